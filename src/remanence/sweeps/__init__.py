"""Many runs as one."""
