package io.varve.experiments.curve;

import io.varve.experiments.simulate.KeyStream;
import io.varve.experiments.simulate.KeyStream.Operation;
import io.varve.memory.locality.curve.ReuseRecorder;
import io.varve.memory.locality.curve.StackDistances;

/** Receives all accesses of a stream. Confined to one thread. */
@FunctionalInterface
interface Learner {
    /**
     * @param key 64 well-mixed bits
     * @param bytes size of the item after the access; 0 for a removal
     */
    void learn(Operation operation, long key, long bytes);

    /**
     * Learns the current request of a stream.
     *
     * @param updates whether it writes the key that it reads, and so is two accesses; a stream may draw that, and is
     *     queried once
     */
    default void learn(KeyStream stream, boolean updates) {
        learn(stream.operation(), stream.key(), stream.bytes());
        if (updates) {
            learn(Operation.WRITE, stream.key(), stream.bytes());
        }
    }

    static Learner of(ReuseRecorder recorder) {
        return (operation, key, bytes) -> {
            switch (operation) {
                case READ -> recorder.read(key, 0, bytes, ReuseRecorder.NEVER, 0);
                case WRITE -> recorder.write(key, 0, bytes, ReuseRecorder.NEVER, 0);
                case REMOVE -> recorder.remove(key, 0);
            }
        };
    }

    static Learner of(StackDistances exact) {
        return (operation, key, bytes) -> {
            switch (operation) {
                case READ -> exact.read(key, bytes);
                case WRITE -> exact.write(key, bytes);
                case REMOVE -> exact.remove(key);
            }
        };
    }
}
