package io.varve.memory.collection.stream;

/** The fields and values of a stream's entry, somewhere in native memory. Confined to the caller. */
public interface StreamFields {
    /** The number of fields. */
    int count();

    long fieldAddress(int index);

    int fieldLength(int index);

    long valueAddress(int index);

    int valueLength(int index);
}
