"""The program in JavaScript that answers requests: a core for all servers, and adapters."""
