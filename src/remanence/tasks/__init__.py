"""What is to be remembered."""
