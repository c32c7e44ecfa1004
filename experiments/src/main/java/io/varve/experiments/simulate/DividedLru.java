package io.varve.experiments.simulate;

import java.util.Arrays;

/**
 * A cache of so many keys of two kinds under exact LRU: each kind in a stack of its own with a fixed share of the cache, or all in one. Confined to one
 * thread.
 *
 * <p>As in a server nothing goes before the cache is full. Then the key goes that was asked for longest ago, of the kind that has more than its share.
 */
public final class DividedLru {
    private static final int KINDS = 2;
    private static final int FIRST_KEYS = 1024;
    private static final byte ABSENT = 0;

    private final int capacity;
    private final int stacks;
    private final double[] mostKeys;
    /**
     * By key, behind the ends of the stacks: which one was asked for just before it, and just after it. A stack is a ring: what is older than its end is the key that was
     * asked for last, what is younger the one that was asked for longest ago.
     */
    private int[] older = new int[KINDS + FIRST_KEYS];
    private int[] younger = new int[KINDS + FIRST_KEYS];
    /** By key: in which stack it is, from 1. */
    private byte[] stackOf = new byte[KINDS + FIRST_KEYS];
    private final int[] held = new int[KINDS];

    private DividedLru(int capacity, int stacks, double secondShare) {
        if (capacity < 1) {
            throw new IllegalArgumentException("A cache holds a key or more, not " + capacity);
        }
        this.capacity = capacity;
        this.stacks = stacks;
        mostKeys = new double[] {(1 - secondShare) * capacity, secondShare * capacity};
        for (int end = 0; end < KINDS; end++) {
            older[end] = end;
            younger[end] = end;
        }
    }

    /** @param capacity keys, 1 or more */
    public static DividedLru undivided(int capacity) {
        return new DividedLru(capacity, 1, 0);
    }

    /**
     * @param capacity    keys, 1 or more
     * @param secondShare of the second kind, 0 to 1; the first has the rest
     */
    public static DividedLru divided(int capacity, double secondShare) {
        if (!(secondShare >= 0 && secondShare <= 1)) {
            throw new IllegalArgumentException("A share is 0 to 1, not " + secondShare);
        }
        return new DividedLru(capacity, KINDS, secondShare);
    }

    /**
     * A key is asked for, and there from then on.
     *
     * @param key    0 or more; memory goes with the highest
     * @param second whether it is of the second kind, always the same for a key
     * @return whether it was there before
     */
    public boolean ask(int key, boolean second) {
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
            int stack = held[stacks - 1] > mostKeys[stacks - 1] || held[0] == 0 ? stacks - 1 : 0;
            unlink(younger[stack]);
        }
        return hit;
    }

    /** A key is written elsewhere, and not here any more. */
    public void remove(int key) {
        int node = KINDS + key;
        if (node < stackOf.length && stackOf[node] != ABSENT) {
            unlink(node);
        }
    }

    private void grow(int least) {
        int length = Math.max(least, 2 * stackOf.length);
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
