package io.varve.experiments.simulate;

import java.util.Arrays;

/**
 * A cache of a fixed number of keys of two kinds under exact LRU: either one stack for each kind, with a fixed share of
 * the cache, or one stack for all. Confined to one thread.
 *
 * <p>As in a server, nothing is evicted before the cache is full. The victim is then the least recently used key of the
 * kind that exceeds its share.
 */
public final class DividedLru {
    private static final int KINDS = 2;
    private static final int FIRST_KEYS = 1024;
    private static final byte ABSENT = 0;

    private final int capacity;
    private final int stacks;
    private final double[] maxKeys;
    /**
     * By key, after the ends of the stacks: the keys that were requested just before and just after it. A stack is a
     * ring: older than its end is the most recently used key, younger than its end the least recently used one.
     */
    private int[] older = new int[KINDS + FIRST_KEYS];
    private int[] younger = new int[KINDS + FIRST_KEYS];
    /** By key: the stack that holds it, from 1. */
    private byte[] stackOf = new byte[KINDS + FIRST_KEYS];
    private final int[] held = new int[KINDS];

    private DividedLru(int capacity, int stacks, double secondShare) {
        if (capacity < 1) {
            throw new IllegalArgumentException("The capacity of a cache is at least one key, not " + capacity);
        }
        this.capacity = capacity;
        this.stacks = stacks;
        maxKeys = new double[] {(1 - secondShare) * capacity, secondShare * capacity};
        for (int end = 0; end < KINDS; end++) {
            older[end] = end;
            younger[end] = end;
        }
    }

    /** @param capacity number of keys, 1 or more */
    public static DividedLru undivided(int capacity) {
        return new DividedLru(capacity, 1, 0);
    }

    /**
     * @param capacity number of keys, 1 or more
     * @param secondShare share of the second kind, 0 to 1; the first kind has the rest
     */
    public static DividedLru divided(int capacity, double secondShare) {
        if (!(secondShare >= 0 && secondShare <= 1)) {
            throw new IllegalArgumentException("A share is from 0 to 1, not " + secondShare);
        }
        return new DividedLru(capacity, KINDS, secondShare);
    }

    /**
     * Requests a key, which is cached afterwards.
     *
     * @param key 0 or more; memory grows with the highest one
     * @param second whether it is of the second kind, constant for a key
     * @return whether it was cached before
     */
    public boolean access(int key, boolean second) {
        int node = KINDS + key;
        if (node >= stackOf.length) {
            grow(node + 1);
        }
        boolean hit = stackOf[node] != ABSENT;
        if (hit) {
            unlink(node);
        }
        push(node, second ? stacks - 1 : 0);
        if (held[0] + held[1] > capacity) {
            int stack = held[stacks - 1] > maxKeys[stacks - 1] || held[0] == 0 ? stacks - 1 : 0;
            unlink(younger[stack]);
        }
        return hit;
    }

    /** Removes a key that is written to the database. */
    public void remove(int key) {
        int node = KINDS + key;
        if (node < stackOf.length && stackOf[node] != ABSENT) {
            unlink(node);
        }
    }

    private void grow(int min) {
        int length = Math.max(min, 2 * stackOf.length);
        older = Arrays.copyOf(older, length);
        younger = Arrays.copyOf(younger, length);
        stackOf = Arrays.copyOf(stackOf, length);
    }

    private void push(int node, int stack) {
        int latest = older[stack];
        older[stack] = node;
        younger[node] = stack;
        older[node] = latest;
        younger[latest] = node;
        stackOf[node] = (byte) (stack + 1);
        held[stack]++;
    }

    private void unlink(int node) {
        held[stackOf[node] - 1]--;
        stackOf[node] = ABSENT;
        older[younger[node]] = older[node];
        younger[older[node]] = younger[node];
    }
}
