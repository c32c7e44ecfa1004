package io.varve.server.command.hash;

import io.varve.memory.item.Item;

/** The condition for changing the expiry time of a hash field. Immutable. */
enum FieldCondition {
    ALWAYS, NX, XX, GT, LT;

    /**
     * Whether the condition allows the change.
     *
     * @param old the field's expiry time; {@link Item#NEVER} counts as later than all others
     * @param at the new expiry time
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
