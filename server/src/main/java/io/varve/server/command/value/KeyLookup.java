package io.varve.server.command.value;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;

/**
 * Key lookups by their effects on statistics and access recency, and by their reply for a wrong type. Immutable: static
 * methods only.
 */
public final class KeyLookup {
    /** The result of a typed lookup. */
    public enum Found {
        MISSING, PRESENT,
        /** The key has another type; the error was replied. */
        WRONG_TYPE
    }

    private KeyLookup() {}

    /** For a command that replies the value: counts a hit or a miss, and updates access recency. */
    public static Found find(CommandContext context, Key key, Item item, ItemType type) {
        return typed(context, context.session().find(key, item), item, type);
    }

    /** For a command that changes the value: updates access recency, but counts neither hit nor miss. */
    public static Found findForWriting(CommandContext context, Key key, Item item, ItemType type) {
        return typed(context, context.session().findForWriting(key, item), item, type);
    }

    private static Found typed(CommandContext context, boolean found, Item item, ItemType type) {
        if (!found) {
            return Found.MISSING;
        }
        if (item.type() != type) {
            context.wrongType();
            return Found.WRONG_TYPE;
        }
        return Found.PRESENT;
    }

    /** Like {@link #findWithoutTouch}, but publishes no event if the key is missing (OBJECT). */
    public static boolean findWithoutEvent(CommandContext context, Key key, Item item) {
        context.session().notifying(false);
        try {
            return findWithoutTouch(context, key, item);
        } finally {
            context.session().notifying(true);
        }
    }

    /** For a command that only tests the key (EXISTS, TYPE, TTL): counts, but does not update access recency. */
    public static boolean findWithoutTouch(CommandContext context, Key key, Item item) {
        CacheSession session = context.session();
        session.touching(false);
        boolean found = session.find(key, item);
        session.touching(!context.client().noTouch());
        return found;
    }
}
