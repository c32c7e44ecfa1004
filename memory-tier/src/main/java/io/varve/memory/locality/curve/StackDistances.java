package io.varve.memory.locality.curve;

/**
 * The exact miss-ratio curve of LRU, by Mattson's stack [1]. Confined to one thread. A read hits in a memory that is as
 * large as all items accessed since the last access to its own item, that item included.
 *
 * <p>It takes some 60 bytes for each key that it has ever seen and O(log N) for each access, so it is for measuring,
 * not for serving. Items have places in the order of their last accesses. The number of bytes behind one is a sum in a
 * Fenwick tree. When all places are used, the items that are still in place are compacted.
 *
 * <p>[1] Mattson, Gecsei, Slutz and Traiger: Evaluation Techniques for Storage Hierarchies (IBM Systems Journal 9,
 * 1970).
 */
public final class StackDistances {
    /** Distances, exact up to 2,048 and to a thousandth from there on. */
    private static final LogBuckets DISTANCES = new LogBuckets(10, 56);
    private static final int FIRST_SLOTS = 1 << 12;
    private static final long EMPTY = 0;
    private static final int ABSENT = 0;

    /** Keys, with hash 0 replaced by 1, and the place of each; {@link #ABSENT} if it has none. */
    private long[] keys = new long[FIRST_SLOTS];
    private int[] places = new int[FIRST_SLOTS];
    private int known;
    private int live;

    /** By place, from 1: its bytes, and the Fenwick tree over them. */
    private long[] bytes = new long[FIRST_SLOTS];
    private long[] tree = new long[FIRST_SLOTS];
    private int lastPlace;
    private long total;

    private final long[] hits = new long[DISTANCES.buckets()];
    private long reads;

    /** Records a read of an item of this size, found or not: a read that misses fetches it. */
    public void read(long hash, long itemBytes) {
        reads++;
        access(hash, itemBytes, true);
    }

    /** Records a write, which leaves an item of this size. */
    public void write(long hash, long itemBytes) {
        access(hash, itemBytes, false);
    }

    private void access(long hash, long itemBytes, boolean read) {
        if (lastPlace == bytes.length - 1) {
            moveTogether();
        }
        int slot = slotOf(hash);
        int place = places[slot];
        if (place == ABSENT) {
            live++;
        } else {
            if (read) {
                hits[DISTANCES.bucket(total - sum(place - 1))]++;
            }
            put(place, -bytes[place]);
        }
        lastPlace++;
        places[slot] = lastPlace;
        put(lastPlace, itemBytes);
    }

    /** Records the removal of an item: deleted, or expired. */
    public void remove(long hash) {
        int slot = slotOf(hash);
        if (places[slot] != ABSENT) {
            put(places[slot], -bytes[places[slot]]);
            places[slot] = ABSENT;
            live--;
        }
    }

    private int slotOf(long hash) {
        long key = hash == EMPTY ? 1 : hash;
        int slot = find(keys, key);
        if (keys[slot] == EMPTY) {
            if (known >= keys.length / 2) {
                grow();
                slot = find(keys, key);
            }
            keys[slot] = key;
            known++;
        }
        return slot;
    }

    private static int find(long[] keys, long key) {
        int mask = keys.length - 1;
        int slot = (int) (key ^ key >>> Integer.SIZE) & mask;
        while (keys[slot] != EMPTY && keys[slot] != key) {
            slot = slot + 1 & mask;
        }
        return slot;
    }

    private void grow() {
        long[] moreKeys = new long[keys.length * 2];
        int[] morePlaces = new int[keys.length * 2];
        for (int i = 0; i < keys.length; i++) {
            if (keys[i] != EMPTY) {
                int slot = find(moreKeys, keys[i]);
                moreKeys[slot] = keys[i];
                morePlaces[slot] = places[i];
            }
        }
        keys = moreKeys;
        places = morePlaces;
    }

    /** Compacts the places; at least as many are free as used afterwards. */
    private void moveTogether() {
        int[] moved = new int[bytes.length];
        for (int slot = 0; slot < places.length; slot++) {
            moved[places[slot]] = 1;
        }
        moved[ABSENT] = 0;
        for (int place = 1; place < moved.length; place++) {
            moved[place] += moved[place - 1];
        }
        int capacity = bytes.length;
        while (capacity < 2 * (live + 1)) {
            capacity *= 2;
        }
        long[] compacted = new long[capacity];
        for (int slot = 0; slot < places.length; slot++) {
            if (places[slot] != ABSENT) {
                compacted[moved[places[slot]]] = bytes[places[slot]];
                places[slot] = moved[places[slot]];
            }
        }
        bytes = compacted;
        lastPlace = live;
        tree = new long[capacity];
        for (int place = 1; place < capacity; place++) {
            tree[place] += bytes[place];
            int above = place + (place & -place);
            if (above < capacity) {
                tree[above] += tree[place];
            }
        }
    }

    private void put(int at, long difference) {
        bytes[at] += difference;
        total += difference;
        for (int place = at; place < tree.length; place += place & -place) {
            tree[place] += difference;
        }
    }

    /** The sum of the bytes up to a place. */
    private long sum(int upTo) {
        long sum = 0;
        for (int place = upTo; place > 0; place -= place & -place) {
            sum += tree[place];
        }
        return sum;
    }

    /** The number of keys seen. */
    public int keys() {
        return known;
    }

    public MissRatioCurve curve() {
        int last = hits.length - 1;
        while (last > 0 && hits[last] == 0) {
            last--;
        }
        MissRatioCurve.Builder curve = new MissRatioCurve.Builder(last + 1);
        long found = 0;
        for (int i = 0; i <= last; i++) {
            found += hits[i];
            curve.add(DISTANCES.lowest(i + 1) - 1, reads == 0 ? 1 : 1 - (double) found / reads);
        }
        return curve.build();
    }
}
