package io.varve.server.command.spec;

/** Properties of a command that the dispatcher needs beside Redis's flags. */
public enum CommandTrait {
    /**
     * Always takes so little time that several such commands share one clock reading: see {@code CommandTimes}.
     * Commands on collections with the flag FAST do so too, if they have few arguments.
     */
    SHARES_CLOCK,
    /** Uses no key, and needs no more checks than a read. */
    USES_NOTHING,
    /**
     * Only finds or peeks at the item of its one key, and reads nothing else of the cache: it can run on a copy,
     * without the lock.
     */
    READS_OPTIMISTICALLY,
    /** Has changed none of its keys if memory runs out, so it may run again. */
    ALL_OR_NOTHING,
    /** Uses one key at a time, so very many keys may be bound on demand. */
    KEYS_ON_DEMAND,
    /** Runs at once after MULTI instead of being queued. */
    RUNS_IN_MULTI,
    /** Reads more from flash, if there is one, than the keys that it names: its client waits for that. */
    WAITS_FOR_FLASH,
    /** Is allowed in RESP2 subscriber mode. */
    ALLOWED_WHILE_SUBSCRIBED,
    /** Replies with pushes, which CLIENT REPLY does not suppress. */
    PUSHES,
    /** Is no write, but replicas may receive something for it: a script that must not write may not call it. */
    MAY_REPLICATE,
    /** Publishes messages, and waits while too many are undelivered. */
    PUBLISHES,
    /** Sends its keys to another server, for which its client waits. */
    TRANSFERS_KEYS,
    /** Runs only if {@code enable-debug-command} allows it. */
    DEBUG_ONLY,
    /** Names no key, and brings other values to keys. Without flash it runs under the locks of all shards. */
    LOCKS_ALL_SHARDS,
    /** Names no key, and changes libraries of functions. It runs under the locks of all shards. */
    CHANGES_LIBRARIES,
    /** When it has run, no command runs that began before. It runs under the locks of all shards. */
    AWAITS_COMMANDS,
    /** Runs a script, whose commands decide what it reads and writes. */
    RUNS_SCRIPT,
    /** Removes all items of databases, or none. Without flash it runs under the locks of all shards. */
    FLUSHES
}
