package io.varve.server.command.spec;

import java.util.Locale;

/** The command flags of COMMAND INFO, in the order in which it lists them. Immutable. */
public enum CommandFlag {
    WRITE, READONLY, DENYOOM, ADMIN, PUBSUB, NOSCRIPT, BLOCKING, LOADING, STALE, SKIP_MONITOR, SKIP_SLOWLOG, ASKING, FAST, NO_AUTH, MAY_REPLICATE, NO_MANDATORY_KEYS, NO_ASYNC_LOADING, NO_MULTI, MOVABLEKEYS, ALLOW_BUSY;

    /** The name in COMMAND INFO. */
    public String redisName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
