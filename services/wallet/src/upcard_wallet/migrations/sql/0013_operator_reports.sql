-- Reports for an operator are read account by account: its accounts are found here, what happened to each by the indexes
-- that statements use. So reports cost the postings' own tables no index more.

-- squawk-ignore require-concurrent-index-creation
CREATE INDEX accounts_operator_idx ON wallet.accounts (operator, account);
