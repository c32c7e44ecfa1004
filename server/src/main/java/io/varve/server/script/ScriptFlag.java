package io.varve.server.script;

import java.util.Locale;

import org.jspecify.annotations.Nullable;

/** A flag of a script's header or of a function, in the order in which Redis lists them. Immutable. */
public enum ScriptFlag {
    /** It calls no command that writes. */
    NO_WRITES,
    /** Its writes are admitted although memory is full. */
    ALLOW_OOM,
    /** It runs on a replica that lost its primary. */
    ALLOW_STALE,
    /** It does not run on a member of a cluster. */
    NO_CLUSTER,
    /** Its keys may belong to several hash slots of this member. */
    ALLOW_CROSS_SLOT_KEYS;

    private static final ScriptFlag[] ALL = values();

    /** The name in a header. */
    public String redisName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The flag of this name; null if there is none. */
    public static @Nullable ScriptFlag of(String name) {
        for (ScriptFlag flag : ALL) {
            if (flag.redisName().equals(name)) {
                return flag;
            }
        }
        return null;
    }
}
