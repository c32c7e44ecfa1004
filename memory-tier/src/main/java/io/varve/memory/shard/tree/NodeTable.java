package io.varve.memory.shard.tree;

import java.util.Arrays;
import java.util.BitSet;
import java.util.function.Consumer;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;

/**
 * Maps the ids of a shard's nodes and trees to 8-byte entries in slabs. Guarded by the shard's lock.
 *
 * <pre>
 *  63  62 61  59 58  54 53    48 47                     0
 * +------+------+------+--------+------------------------+
 * | kind | marks| 0    | header | location               |   a node; a tree, whose location is that of its root item
 * +------+------+------+--------+------------------------+
 * | kind | the root node, 31 bits  | the next, 31 bits   |   a dying tree
 * +------+-------------------------+---------------------+
 * | 0    | the next free id of the slab, counted from 1  |   free
 * +------+-----------------------------------------------+
 * </pre>
 *
 * <p>{@code header} is the number of bytes before the value in a node's item. It saves reading the item's header to
 * find the value.
 *
 * <p>Ids never move, so a slab returns to the system only when all of its ids are free. A fresh id comes from the
 * lowest slab that has a free one, so that the higher slabs empty. The table keeps one empty slab.
 */
public final class NodeTable {
    /** 512 ids: little waste in a shard with few nodes. */
    static final int SLAB_BYTES = 4 * 1024;
    static final int IDS_PER_SLAB = SLAB_BYTES / Long.BYTES;

    private static final int SLAB_SHIFT = Integer.numberOfTrailingZeros(IDS_PER_SLAB);
    private static final int SLAB_MASK = IDS_PER_SLAB - 1;
    /** As many slabs as ids of 31 bits can name. */
    private static final int MAX_SLABS = 1 << 31 - SLAB_SHIFT;

    private static final long[] NO_ADDRESSES = {};
    private static final int[] NO_COUNTS = {};

    private static final int KIND_SHIFT = 62;
    private static final int FREE = 0;
    private static final int NODE = 1;
    private static final int TREE = 2;
    private static final int DYING = 3;
    private static final long LOCATION_MASK = (1L << 48) - 1;
    private static final int HEADER_SHIFT = 48;
    private static final int HEADER_MASK = (1 << 6) - 1;
    private static final int ROOT_SHIFT = 31;
    private static final int ID_MASK = Integer.MAX_VALUE;

    /** Marks of a node between begin and keep: it was copied; it will be freed. */
    static final long COPIED = 1L << 61;
    static final long DROPPED = 1L << 60;
    /** A mark of a node of a dying tree: the item was freed, and the id waits until the teardown reaches its parent. */
    public static final long FREED = 1L << 59;

    private final Regions regions;
    private final MemoryBudget budget;

    /** 0 for a slab that was freed. */
    private long[] slabs = NO_ADDRESSES;
    private int[] used = NO_COUNTS;
    private int[] firstFree = NO_COUNTS;
    /** The number of ids of a slab that were ever allocated since the slab was. */
    private int[] begun = NO_COUNTS;
    private int slabCount;
    private int held;
    private int emptySlabs;
    private boolean reserving;
    /** Slabs with a free id, and numbers below {@link #slabCount} without a slab. */
    private final BitSet slabsWithFreeIds = new BitSet();
    private final BitSet absent = new BitSet();
    private long size;

    NodeTable(Regions regions, MemoryBudget budget) {
        this.regions = regions;
        this.budget = budget;
    }

    /**
     * Allocates an id; the caller sets its entry.
     *
     * @throws CacheFullException if it needs a slab and there is no memory for it
     */
    int allocate() {
        int slab = slabsWithFreeIds.nextSetBit(0);
        if (slab < 0) {
            int gap = absent.nextSetBit(0);
            slab = gap < 0 ? slabCount : gap;
            take(slab);
        }
        int free = firstFree[slab];
        int place;
        if (free != 0) {
            place = free - 1;
            firstFree[slab] = (int) Memory.getLong(slabs[slab] + (long) place * Long.BYTES);
        } else {
            place = begun[slab]++;
        }
        if (used[slab]++ == 0) {
            emptySlabs--;
        }
        if (used[slab] == usable(slab)) {
            slabsWithFreeIds.clear(slab);
        }
        size++;
        int id = slab << SLAB_SHIFT | place;
        node(id, 0, 0, 0);
        return id;
    }

    /** Id 0 is never used. */
    private static int usable(int slab) {
        return slab == 0 ? IDS_PER_SLAB - 1 : IDS_PER_SLAB;
    }

    /**
     * Allocates slabs until {@code ids} ids are free, and keeps empty slabs until {@link #endReserve}.
     *
     * @return false if there is no memory for them beside the reserve; nothing is kept then
     */
    boolean reserve(int ids) {
        reserving = true;
        // Id 0 is never free.
        while (held * (long) IDS_PER_SLAB - 1 - size < ids) {
            int gap = absent.nextSetBit(0);
            int slab = gap < 0 ? slabCount : gap;
            if (slab == MAX_SLABS || !budget.tryChargeBesideReserve(SLAB_BYTES) || !taken(slab)) {
                endReserve();
                return false;
            }
        }
        return true;
    }

    /** Frees the empty slabs, except one. */
    void endReserve() {
        reserving = false;
        for (int slab = slabCount - 1; slab >= 0 && emptySlabs > 1; slab--) {
            if (slabs[slab] != 0 && used[slab] == 0) {
                freeSlab(slab);
                emptySlabs--;
            }
        }
    }

    private void take(int slab) {
        if (slab == MAX_SLABS || !budget.tryCharge(SLAB_BYTES) || !taken(slab)) {
            throw CacheFullException.INSTANCE;
        }
    }

    /** @return false if the system has no memory for a slab, which has been charged */
    private boolean taken(int slab) {
        long address = regions.allocate(SLAB_BYTES);
        if (address == 0) {
            budget.release(SLAB_BYTES);
            return false;
        }
        if (slab == slabs.length) {
            int length = Math.max(4, slab * 2);
            slabs = Arrays.copyOf(slabs, length);
            used = Arrays.copyOf(used, length);
            firstFree = Arrays.copyOf(firstFree, length);
            begun = Arrays.copyOf(begun, length);
        }
        slabs[slab] = address;
        used[slab] = 0;
        firstFree[slab] = 0;
        begun[slab] = slab == 0 ? 1 : 0;
        slabCount = Math.max(slabCount, slab + 1);
        slabsWithFreeIds.set(slab);
        absent.clear(slab);
        held++;
        emptySlabs++;
        return true;
    }

    public void free(int id) {
        int slab = id >>> SLAB_SHIFT;
        int place = id & SLAB_MASK;
        assert kind(id) != FREE : "freed twice: " + id;
        Memory.putLong(address(id), firstFree[slab]);
        firstFree[slab] = place + 1;
        size--;
        slabsWithFreeIds.set(slab);
        if (--used[slab] == 0 && ++emptySlabs > 1 && !reserving) {
            freeSlab(slab);
            emptySlabs--;
        }
    }

    private void freeSlab(int slab) {
        regions.free(slabs[slab], SLAB_BYTES);
        budget.release(SLAB_BYTES);
        slabs[slab] = 0;
        held--;
        slabsWithFreeIds.clear(slab);
        absent.set(slab);
        while (slabCount > 0 && slabs[slabCount - 1] == 0) {
            absent.clear(--slabCount);
        }
    }

    /** Frees all memory. */
    void release() {
        for (int slab = 0; slab < slabCount; slab++) {
            if (slabs[slab] != 0) {
                regions.free(slabs[slab], SLAB_BYTES);
                budget.release(SLAB_BYTES);
                slabs[slab] = 0;
            }
        }
        slabCount = 0;
        held = 0;
        emptySlabs = 0;
        slabsWithFreeIds.clear();
        absent.clear();
        size = 0;
    }

    // --- entries

    private long address(int id) {
        return slabs[id >>> SLAB_SHIFT] + (long) (id & SLAB_MASK) * Long.BYTES;
    }

    /** The entry of an id, which {@link #bits(int, long)} can restore. */
    public long bits(int id) {
        return Memory.getLong(address(id));
    }

    void bits(int id, long bits) {
        Memory.putLong(address(id), bits);
    }

    private int kind(int id) {
        return (int) (bits(id) >>> KIND_SHIFT);
    }

    public boolean isNode(int id) {
        return kind(id) == NODE;
    }

    public boolean isTree(int id) {
        return kind(id) == TREE;
    }

    public boolean isDying(int id) {
        return kind(id) == DYING;
    }

    /** The location of a node, or of a tree's root item. */
    public long location(int id) {
        return bits(id) & LOCATION_MASK;
    }

    static long locationOf(long bits) {
        return bits & LOCATION_MASK;
    }

    /** Bytes of a node's item before its value. */
    public static int headerBytesOf(long bits) {
        return (int) (bits >>> HEADER_SHIFT) & HEADER_MASK;
    }

    /**
     * @param headerBytes bytes of the item before the value, at most 63
     * @param marks {@link #COPIED}, {@link #DROPPED}, both or none
     */
    void node(int id, long location, int headerBytes, long marks) {
        assert headerBytes >= 0 && headerBytes <= HEADER_MASK : headerBytes;
        bits(id, (long) NODE << KIND_SHIFT | marks | (long) headerBytes << HEADER_SHIFT | location);
    }

    /** Removes a node's marks; it keeps its location. */
    void unmark(int id) {
        bits(id, bits(id) & ~(COPIED | DROPPED));
    }

    public void tree(int id, long location) {
        bits(id, (long) TREE << KIND_SHIFT | location);
    }

    void dying(int id, int root, int next) {
        bits(id, (long) DYING << KIND_SHIFT | (long) root << ROOT_SHIFT | next);
    }

    /** The root node of a dying tree. */
    int dyingRoot(int id) {
        return (int) (bits(id) >>> ROOT_SHIFT) & ID_MASK;
    }

    /** The next dying tree in the list. */
    public int dyingNext(int id) {
        return (int) bits(id) & ID_MASK;
    }

    // --- facts

    /** Ids in use. */
    long size() {
        return size;
    }

    long bytes() {
        return (long) held * SLAB_BYTES;
    }

    /** An exclusive bound of all ids; not all below it are in use. */
    public int end() {
        return slabCount << SLAB_SHIFT;
    }

    /** Whether an id is in use. For tests. */
    public boolean isUsed(int id) {
        int slab = id >>> SLAB_SHIFT;
        return id > 0 && slab < slabCount && slabs[slab] != 0 && (id & SLAB_MASK) < begun[slab] && kind(id) != FREE;
    }

    /** Counts ids and reports contradictions with the stored counts. */
    public void checkIntegrity(Consumer<String> problems) {
        long counted = 0;
        for (int slab = 0; slab < slabCount; slab++) {
            if (slabs[slab] == 0) {
                continue;
            }
            int inSlab = 0;
            for (int place = 0; place < IDS_PER_SLAB; place++) {
                inSlab += isUsed(slab << SLAB_SHIFT | place) ? 1 : 0;
            }
            int free = 0;
            for (int next = firstFree[slab]; next != 0 && free <= IDS_PER_SLAB; free++) {
                next = (int) Memory.getLong(slabs[slab] + (long) (next - 1) * Long.BYTES);
            }
            int never = slab == 0 ? 1 : 0;
            if (inSlab != used[slab] || inSlab + free + never != begun[slab]) {
                problems.accept("slab " + slab + " of the node table: " + inSlab + " ids used and " + free + " free of "
                        + begun[slab] + ", noted are " + used[slab]);
            }
            counted += inSlab;
        }
        if (counted != size) {
            problems.accept("the node table has " + counted + " ids, but " + size + " recorded");
        }
    }
}
