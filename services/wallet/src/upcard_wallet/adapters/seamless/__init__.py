"""The seamless purse: the money lies in a partner's wallet, and every call to it in our database."""
