package io.varve.server.command.hash;

import java.util.concurrent.ThreadLocalRandom;

import io.varve.memory.collection.HashTree;
import io.varve.server.command.value.RandomRanks;

/**
 * Picks random fields of a hash. Immutable: static methods only.
 *
 * <p>In a tree with expired fields, ranks cover all fields, and only its time shows that a field has expired. So random
 * ranks are drawn until one is an unexpired field. If every field has a time, the order of the times leads to the
 * unexpired fields. The tree is walked only if nearly all fields have expired and others have no time.
 */
final class RandomFields {
    /** Cost of a draw in steps of a walk: drawing pays off with this many unexpired fields for each requested one. */
    private static final int STEPS_PER_DRAW = 32;
    /** Maximum number of distinct fields drawn before the first reply, and of fields found by one walk. */
    private static final int MAX_RECORDED = 1 << 13;

    private RandomFields() {}

    /** Moves the cursor to a random field; false if there is none. */
    static boolean moveToRandom(HashValue hash) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        if (isDrawn(hash, 1)) {
            draw(hash.tree(), random);
            return true;
        }
        return hash.size() > 0 && hash.seek(random.nextLong(hash.size()));
    }

    /** Moves the cursor to a random field, {@code count} times. */
    static void any(HashValue hash, long count, Runnable taker) {
        if (!isDrawn(hash, Math.min(count, MAX_RECORDED))) {
            RandomRanks.forEachPick(hash, count, taker);
            return;
        }
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (long i = 0; i < count; i++) {
            draw(hash.tree(), random);
            taker.run();
        }
    }

    /** Moves the cursor to distinct random fields, at most all of them. */
    static void different(HashValue hash, long count, Runnable taker) {
        if (count > MAX_RECORDED || !isDrawn(hash, count)) {
            RandomRanks.forEach(hash.size(), count, rank -> {
                hash.seek(rank);
                taker.run();
            });
            return;
        }
        HashTree tree = hash.tree();
        for (long rank : RandomRanks.different(ThreadLocalRandom.current(), tree.size(), (int) count,
                rank -> isUnexpired(tree, rank))) {
            tree.seek(rank);
            taker.run();
        }
    }

    /** Whether to draw this many fields from all, expired or not. */
    private static boolean isDrawn(HashValue hash, long count) {
        return hash.isTree() && hash.isSequential() && hash.size() / STEPS_PER_DRAW >= count;
    }

    private static void draw(HashTree tree, ThreadLocalRandom random) {
        boolean isUnexpired;
        do {
            isUnexpired = isUnexpired(tree, random.nextLong(tree.size()));
        } while (!isUnexpired);
    }

    private static boolean isUnexpired(HashTree tree, long rank) {
        tree.seek(rank);
        return !tree.isDue();
    }
}
