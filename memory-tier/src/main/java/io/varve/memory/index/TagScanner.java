package io.varve.memory.index;

/** Finds the slots of an index bucket whose tag equals a given one. Immutable; two implementations give equal answers. */
public interface TagScanner {
    /**
     * @param bucketAddress where the 64-byte index bucket starts
     * @return a bit vector over the seven slots (bit i for slot i): valid and of this tag
     */
    int matches(long bucketAddress, short tag);
}
