package io.varve.server.command.value;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.Invocation;

/**
 * The ways in which a command looks for a key, by what they leave behind and what they reply if the key is not what the
 * command needs. Immutable: static methods only.
 */
public final class KeyLookup {
    /** What a typed lookup found. */
    public enum Found {
        MISSING, PRESENT,
        /** The key holds another type; the error has been replied. */
        WRONG_TYPE
    }

    private KeyLookup() {}

    /** For a command that answers the value: counts a hit or a miss and renews the access clock. */
    public static Found find(Invocation call, Key key, Item item, ItemType type) {
        return typed(call, call.session().find(key, item), item, type);
    }

    /** For a command that changes the value: renews the access clock, but counts neither hit nor miss. */
    public static Found findForWriting(Invocation call, Key key, Item item, ItemType type) {
        return typed(call, call.session().findForWriting(key, item), item, type);
    }

    private static Found typed(Invocation call, boolean found, Item item, ItemType type) {
        if (!found) {
            return Found.MISSING;
        }
        if (item.type() != type) {
            call.wrongType();
            return Found.WRONG_TYPE;
        }
        return Found.PRESENT;
    }

    /** As {@link #findUntouched}, but nobody is told that it is not there (OBJECT). */
    public static boolean findUntold(Invocation call, Key key, Item item) {
        call.session().telling(false);
        try {
            return findUntouched(call, key, item);
        } finally {
            call.session().telling(true);
        }
    }

    /** For a command that only asks about the key (EXISTS, TYPE, TTL): counts, but leaves the access clock. */
    public static boolean findUntouched(Invocation call, Key key, Item item) {
        CacheSession session = call.session();
        session.touching(false);
        boolean found = session.find(key, item);
        session.touching(!call.client().noTouch());
        return found;
    }
}
