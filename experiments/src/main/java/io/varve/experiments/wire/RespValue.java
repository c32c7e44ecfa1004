package io.varve.experiments.wire;

import java.util.List;

/**
 * A reply with its shape. Immutable. Both protocols give the same: a map of RESP3 is its keys and values in turn, as RESP2 sends it, and
 * a number of either is its digits.
 */
public sealed interface RespValue {
    /** A status, a bulk, an integer, a double, a boolean. */
    record Text(String text) implements RespValue {}

    /** An array, a set, a push or a map. */
    record Many(List<RespValue> values) implements RespValue {
        public Many {
            values = List.copyOf(values);
        }
    }

    /** A null, of whatever shape it was to be. */
    record Absent() implements RespValue {}

    /** @throws IllegalArgumentException if it is none */
    default List<RespValue> values() {
        if (this instanceof Many many) {
            return many.values();
        }
        throw new IllegalArgumentException("a reply that was to be an array is " + this);
    }

    /** @throws IllegalArgumentException if it is none */
    default String text() {
        if (this instanceof Text text) {
            return text.text();
        }
        throw new IllegalArgumentException("a reply that was to be a text or a number is " + this);
    }

    /**
     * As a number; NaN for a null.
     *
     * @throws IllegalArgumentException if it is none
     */
    default double number() {
        if (this instanceof Absent) {
            return Double.NaN;
        }
        try {
            return Double.parseDouble(text());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("a reply that was to be a number is " + this, e);
        }
    }
}
