package io.varve.experiments.run.locks;

import java.util.Arrays;

/**
 * A key of a hash map. Immutable: nobody changes its bytes. Unlike a string it computes its hash for each request, as a
 * server does with a key that has just arrived, and as Go's maps do in the paper.
 *
 * @param bytes the word
 */
@SuppressWarnings("ArrayRecordComponent") // equals and hashCode compare the bytes
record Word(byte[] bytes) {
    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Word word && Arrays.equals(bytes, word.bytes);
    }
}
