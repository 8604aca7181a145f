"""Work that outgrows one machine, on Ray: blocks of rows stream through a pool of workers.

Nothing else imports Ray, and nothing here is imported unless a command is given --cluster.
"""
