package io.varve.server.command.hash;

import io.varve.memory.item.Item;

/** When a field gets another time. Immutable. */
enum FieldCondition {
    ALWAYS, NX, XX, GT, LT;

    /**
     * Whether a field may.
     *
     * @param old its time, or {@link Item#NEVER}: then it counts as one that stays longer than all others
     * @param at  the other
     */
    boolean allows(long old, long at) {
        boolean has = old != Item.NEVER;
        return switch (this) {
            case ALWAYS -> true;
            case NX -> !has;
            case XX -> has;
            case GT -> has && at > old;
            case LT -> !has || at < old;
        };
    }
}
