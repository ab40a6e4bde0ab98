"""Playing over the edge: what messages do, what is shown, chats."""
