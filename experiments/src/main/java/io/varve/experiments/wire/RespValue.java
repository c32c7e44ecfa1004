package io.varve.experiments.wire;

import java.util.List;

/**
 * A reply with its structure. Immutable. Both protocols give equal values: a map of RESP3 becomes its alternating keys
 * and values, as RESP2 sends it, and a number of either becomes its digits.
 */
public sealed interface RespValue {
    /** A status, a bulk, an integer, a double, a boolean. */
    record Text(String text) implements RespValue {}

    /** An array, a set, a push or a map. */
    record Array(List<RespValue> values) implements RespValue {
        public Array {
            values = List.copyOf(values);
        }
    }

    /** A null of any type. */
    record Absent() implements RespValue {}

    /** @throws IllegalArgumentException if it is not an aggregate */
    default List<RespValue> values() {
        if (this instanceof Array array) {
            return array.values();
        }
        throw new IllegalArgumentException("expected an array, but the reply is " + this);
    }

    /** @throws IllegalArgumentException if it is not a text */
    default String text() {
        if (this instanceof Text text) {
            return text.text();
        }
        throw new IllegalArgumentException("expected a text or a number, but the reply is " + this);
    }

    /**
     * The reply as a number; NaN for a null.
     *
     * @throws IllegalArgumentException if it is not a number
     */
    default double number() {
        if (this instanceof Absent) {
            return Double.NaN;
        }
        try {
            return Double.parseDouble(text());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("expected a number, but the reply is " + this, e);
        }
    }
}
