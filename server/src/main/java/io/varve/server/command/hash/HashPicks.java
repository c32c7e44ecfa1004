package io.varve.server.command.hash;

import java.util.concurrent.ThreadLocalRandom;

import io.varve.memory.collection.HashTree;
import io.varve.server.command.value.RandomRanks;

/**
 * Picks fields of a hash at random. Immutable: static methods only.
 *
 * <p>In a tree some of whose fields are due, ranks are those of all fields, and which are due is known by their times: so what is to be
 * picked is drawn from all until it is one that is there. Where each field has a time the order of the times leads to those that are
 * there; only where nearly all are due, and others have no time, the tree is walked over.
 */
final class HashPicks {
    /** A draw takes as long as so many steps of a walk: it is worth its while if so many fields are there for each that is wanted. */
    private static final int STEPS_PER_DRAW = 32;
    /** So many at most are drawn before the first is told of, and so many a walk finds at once. */
    private static final int MOST_NOTED = 1 << 13;

    private HashPicks() {}

    /** Goes to any field; false if there is none. */
    static boolean goToAny(HashValue hash) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        if (isDrawn(hash, 1)) {
            draw(hash.tree(), random);
            return true;
        }
        return hash.size() > 0 && hash.seek(random.nextLong(hash.size()));
    }

    /** Goes to fields, any each time. */
    static void any(HashValue hash, long count, Runnable taker) {
        if (!isDrawn(hash, Math.min(count, MOST_NOTED))) {
            RandomRanks.forEachPick(hash, count, taker);
            return;
        }
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (long i = 0; i < count; i++) {
            draw(hash.tree(), random);
            taker.run();
        }
    }

    /** Goes to different fields, at most as many as there are. */
    static void different(HashValue hash, long count, Runnable taker) {
        if (count > MOST_NOTED || !isDrawn(hash, count)) {
            RandomRanks.forEach(hash.size(), count, rank -> {
                hash.seek(rank);
                taker.run();
            });
            return;
        }
        HashTree tree = hash.tree();
        for (long rank : RandomRanks.different(ThreadLocalRandom.current(), tree.size(), (int) count,
                rank -> isThere(tree, rank))) {
            tree.seek(rank);
            taker.run();
        }
    }

    /** Whether so many fields are to be drawn from all, due or not. */
    private static boolean isDrawn(HashValue hash, long count) {
        return hash.isTree() && hash.isWalked() && hash.size() / STEPS_PER_DRAW >= count;
    }

    private static void draw(HashTree tree, ThreadLocalRandom random) {
        boolean isThere;
        do {
            isThere = isThere(tree, random.nextLong(tree.size()));
        } while (!isThere);
    }

    private static boolean isThere(HashTree tree, long rank) {
        tree.seek(rank);
        return !tree.isDue();
    }
}
