package io.varve.memory.index;

/**
 * Finds the slots of an index bucket whose tag equals a given one. Immutable; two implementations give equal answers.
 */
public interface TagScanner {
    /**
     * @param bucketAddress the start of the 64-byte index bucket
     * @return a bit vector over the seven slots (bit i for slot i): valid and with this tag
     */
    int matches(long bucketAddress, short tag);
}
