package io.varve.memory.index;

import java.util.Objects;
import java.util.function.Consumer;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.jspecify.annotations.Nullable;

/**
 * The two-level hash index: maps the hash of a key to the location of its item. Guarded by the shard's lock, except
 * {@link #lineAddress} and {@link #suggest}.
 *
 * <p>The upper 48 bits of the hash choose the home bucket. The lower 16 bits are the tag, which one vector operation
 * compares with seven slots (Redis++, section 4). {@link IndexTable} defines where an entry may be.
 *
 * <p>The index grows and shrinks by moving a few home buckets at a time from one table to a second. Reads search both
 * tables, and new entries go to the second. Home buckets move in ascending order, each with all its entries. A home
 * bucket below {@code rehashAt} therefore has no entries in the first table and is not searched there. The index stores
 * no hashes: the {@link KeyVerifier} recomputes one when an entry moves.
 */
public final class Index {
    /** No entry; note that location 0 is valid. */
    public static final long NONE = -1;

    /** Home buckets that an insertion moves, so that the rehash ends before the second table is full. */
    private static final int BUCKETS_PER_INSERT = 2;
    private static final int BUCKETS_PER_REMOVE = 1;
    /** The most overflow entries moved in one home bucket's step. */
    private static final int OVERFLOW_PER_STEP = 32;
    private static final double MAX_GROW_LOAD = 0.87;

    private final KeyVerifier verifier;
    private final TagScanner scanner;
    private final Regions regions;
    /** Nothing is evicted for a table that would take more than this part of all memory. */
    private static final int MAX_PART_FOR_TABLE = 4;

    private final MemoryBudget budget;
    private final double growLoad;
    /** The result of the last successful find. */
    private final FoundSlot found = new FoundSlot();

    private IndexTable current;
    /** The second table during a rehash. */
    private @Nullable IndexTable target;
    /** The first home bucket of the current table that has not been moved. */
    private long rehashAt;
    private long size;
    /** Bytes that the budget last refused for a table or an overflow. */
    private long refusedBytes;
    /** Whether memory was requested because the table is crowded, and the larger one does not exist yet. */
    private boolean crowded;

    /** The sink of {@link KeyVerifier#touch} results. */
    private long touched;

    /**
     * @param growLoad the share of used slots at which the index doubles, above 0, at most 0.87
     * @throws CacheFullException if the budget refuses the smallest table
     */
    public Index(KeyVerifier verifier, TagScanner scanner, Regions regions, MemoryBudget budget, double growLoad) {
        if (!(growLoad > 0 && growLoad <= MAX_GROW_LOAD)) {
            throw new IllegalArgumentException("The index grows at a load above 0 and at most " + MAX_GROW_LOAD
                    + ", not " + growLoad);
        }
        this.verifier = verifier;
        this.scanner = scanner;
        this.regions = regions;
        this.budget = budget;
        this.growLoad = growLoad;
        IndexTable first = IndexTable.open(IndexTable.MIN_BUCKETS, verifier, regions, budget, growLoad,
                IndexTable.Charge.UP_TO_LIMIT);
        if (first == null) {
            throw CacheFullException.INSTANCE;
        }
        current = first;
    }

    /**
     * Prepares for entries to come: opens a table for so many, which does not shrink before {@link #expectNoMore}.
     *
     * @param maxBytes does nothing if the table would take more
     */
    public void expect(long entries, long maxBytes) {
        long buckets = IndexTable.bucketsFor(entries, growLoad);
        if (target == null && buckets > current.buckets() && buckets <= maxBytes >> IndexBucketLayout.BUCKET_SHIFT
                && startRehash(buckets)) {
            Objects.requireNonNull(target).keepsSize(true);
            rehashStep(IndexTable.MIN_BUCKETS);
        }
    }

    /** No more entries are expected: a table that is too large for the present ones may shrink. */
    public void expectNoMore() {
        current.keepsSize(false);
        if (target != null) {
            target.keepsSize(false);
        }
    }

    /** The location of the item with this key, or {@link #NONE}; remembers the slot. */
    public long find(long hash, long keyAddress, int keyLength) {
        if (target == null) {
            return findIn(current, hash, keyAddress, keyLength);
        }
        return findInBoth(current, target, hash, keyAddress, keyLength);
    }

    /** Replaces the location in the slot of the last successful find. The index must not have changed in between. */
    public void replaceFound(long location) {
        assert inRange(location);
        if (found.bucket == 0) {
            foundTable().overflow.location(found.slot, location);
        } else {
            IndexBucketLayout.location(found.bucket, found.slot, location);
        }
    }

    /** Removes the entry of the last successful find. The index must not have changed in between. */
    public void removeFound() {
        if (found.bucket == 0) {
            foundTable().removeOverflow(found.home, found.slot);
        } else {
            foundTable().remove(found.home, found.bucket, found.slot);
        }
        size--;
        if (target != null || current.shrinkDue()) {
            rehashStep(BUCKETS_PER_REMOVE);
        }
    }

    /**
     * Adds an entry whose key is known to be absent. The item must already be at the location.
     *
     * @throws CacheFullException if it needs memory and the budget refuses; nothing is changed then
     */
    public void insert(long hash, long location) {
        assert inRange(location);
        if (target == null && growDue()) {
            startRehash(current.buckets() * 2);
        }
        IndexTable table = target == null ? current : target;
        if (!table.insert(hash, location)) {
            refused(table.overflow.wantedBytes(), 0);
            throw CacheFullException.INSTANCE;
        }
        size++;
        if (target != null) {
            rehashStep(BUCKETS_PER_INSERT);
        }
    }

    /** Replaces the location in the entry of this hash and location; false if there is none. Compares no key. */
    public boolean replace(long hash, long oldLocation, long newLocation) {
        boolean isFound = locate(hash, oldLocation);
        if (isFound) {
            replaceFound(newLocation);
        }
        return isFound;
    }

    /** Removes the entry of this hash and location; false if there is none. Compares no key. */
    public boolean remove(long hash, long location) {
        boolean isFound = locate(hash, location);
        if (isFound) {
            removeFound();
        }
        return isFound;
    }

    /** Whether there is an entry of this hash and location. Compares no key. */
    public boolean contains(long hash, long location) {
        return locate(hash, location);
    }

    public long size() {
        return size;
    }

    /** Bytes of all tables and their overflow, as charged to the budget. */
    public long bytes() {
        return current.bytes() + (target == null ? 0 : target.bytes());
    }

    /**
     * The average bytes per item, at a fill between half of the load at which a table doubles and that load. It ignores
     * that small tables are emptier.
     */
    public long bytesPerItem() {
        return bytesPerItem(growLoad);
    }

    /** The average bytes per item for this load at which an index doubles. */
    public static int bytesPerItem(double growLoad) {
        double fill = 0.75 * growLoad;
        return (int) Math.round(IndexBucketLayout.BUCKET_BYTES / (IndexBucketLayout.SLOTS * fill));
    }

    /** The slots of all tables, without the overflow. */
    public long slots() {
        return current.slots() + (target == null ? 0 : target.slots());
    }

    /**
     * The bytes that the budget refused for a table or a larger overflow since the last call, or 0. The index works
     * without the table, with longer searches, until its overflow is refused memory too. A caller that can free memory
     * should do so.
     */
    public long takeRefusedBytes() {
        long bytes = refusedBytes;
        refusedBytes = 0;
        return bytes;
    }

    public boolean rehashing() {
        return target != null || growDue() || current.shrinkDue();
    }

    /**
     * Moves some home buckets of a rehash in progress, or starts one that is due.
     *
     * @param buckets the most home buckets to move; a full one costs up to 14 hashes of keys
     * @return whether there is more to do, and it can continue
     */
    public boolean rehashStep(int buckets) {
        if (target == null) {
            boolean due = growDue() && startRehash(current.buckets() * 2)
                    || current.shrinkDue() && startRehash(current.buckets() / 2);
            if (!due) {
                return false;
            }
        }
        IndexTable to = target;
        if (to == null) {
            return false;
        }
        long startAt = rehashAt;
        long left = current.used() + current.overflow.count();
        long end = Math.min(current.buckets(), rehashAt + buckets);
        long sum = touched;
        if (rehashAt < end) {
            sum += current.touchHome(rehashAt, verifier);
        }
        while (rehashAt < end) {
            if (rehashAt + 1 < end) {
                sum += current.touchHome(rehashAt + 1, verifier);
            }
            if (!current.moveHome(rehashAt, to, verifier, OVERFLOW_PER_STEP)) {
                break;
            }
            rehashAt++;
        }
        touched = sum;
        if (rehashAt == current.buckets()) {
            endRehash(to);
        } else if (rehashAt == startAt && current.used() + current.overflow.count() == left) {
            // The other table's overflow was refused memory: an immediate retry would fail too.
            return false;
        }
        return target != null || current.growDue() || current.shrinkDue();
    }

    /**
     * The address of a hash's index line. Needs no lock. It is a hint, but always readable, because a table's memory
     * stays mapped.
     */
    public long lineAddress(long hash) {
        IndexTable second = target;
        IndexTable table = current;
        long home = IndexBucketLayout.home(hash, table.mask);
        return second == null || home >= rehashAt
                ? table.bucketAddress(home)
                : second.bucketAddress(IndexBucketLayout.home(hash, second.mask));
    }

    /** The table that a search without the lock begins with. */
    IndexTable searchedFirst(long hash) {
        IndexTable second = target;
        IndexTable table = current;
        return second == null || IndexBucketLayout.home(hash, table.mask) >= rehashAt ? table : second;
    }

    /** The table that it searches after {@link #searchedFirst}; null if there is none. */
    @Nullable
    IndexTable searchedSecond(long hash) {
        IndexTable second = target;
        return second == null || IndexBucketLayout.home(hash, current.mask) < rehashAt ? null : second;
    }

    /**
     * A location whose tag matches the hash, or {@link #NONE}. Needs no lock. It is a hint: it may be stale, or no
     * location at all if the table's memory was freed meanwhile. The caller must check it before use.
     */
    public long suggest(long hash) {
        long location = suggestIn(current, hash);
        if (location == NONE) {
            IndexTable second = target;
            if (second != null) {
                return suggestIn(second, hash);
            }
        }
        return location;
    }

    /** The number of home buckets, less one: of the smaller table during a rehash. */
    public long homeMask() {
        return target == null ? current.mask : Math.min(current.mask, target.mask);
    }

    /**
     * Visits all entries of one home bucket. A walk goes from cursor 0 until 0 is returned. It visits an entry that is
     * present throughout exactly once, and any other at most once for each time it was added. Additions, removals,
     * moves and rehashes between the calls do not change that.
     *
     * <p>The cursor counts home buckets with its bits reversed. After a doubling or halving, the buckets behind it are
     * thus those that came from, or went into, buckets behind it. While there are two tables, one call visits a home
     * bucket of the smaller and all corresponding ones of the larger.
     *
     * <p>Read backwards, the home bits of a hash are a position in an order that is independent of the table size, and
     * so is the cursor. It has passed exactly the entries whose position is before it. A halving may leave the cursor
     * in the middle of a bucket; the entries there that it has passed are skipped.
     *
     * @return the next cursor; 0 at the end
     */
    public long scan(long cursor, LocationVisitor visitor) {
        return scan(cursor, visitor, Integer.MAX_VALUE);
    }

    /**
     * As {@link #scan(long, LocationVisitor)}, for callers that remove visited entries and repeat until the index is
     * empty. If a home bucket has more entries than can be removed at once, it is visited in part.
     *
     * @param overflowLimit the most entries of a home bucket beyond the 14 in index buckets
     */
    public long scan(long cursor, LocationVisitor visitor, int overflowLimit) {
        return IndexScan.step(current, target, verifier, cursor, visitor, overflowLimit);
    }

    /**
     * The location at a random spot: each entry has the same probability. The result is {@link #NONE} if the spot is
     * empty; the caller retries with other bits.
     *
     * @param random 64 random bits
     */
    public long sample(long random) {
        long spots = current.spots();
        IndexTable second = target;
        long spot = Math.unsignedMultiplyHigh(random, second == null ? spots : spots + second.spots());
        return second == null || spot < spots ? current.locationAt(spot) : second.locationAt(spot - spots);
    }

    /**
     * The location of an entry near a random spot, or {@link #NONE} if there are none at all: for a table so empty that
     * {@link #sample} would take long. Entries behind many empty spots are more likely than others.
     *
     * @param random 64 random bits
     */
    public long sampleNearby(long random) {
        long spots = current.spots();
        IndexTable second = target;
        long all = second == null ? spots : spots + second.spots();
        long spot = Math.unsignedMultiplyHigh(random, all);
        for (long visited = 0; visited < all && size > 0; visited++) {
            long location = second == null || spot < spots
                    ? current.locationAt(spot)
                    : second.locationAt(spot - spots);
            if (location != NONE) {
                return location;
            }
            spot = spot + 1 == all ? 0 : spot + 1;
        }
        return NONE;
    }

    /** Frees all memory. Only {@link #lineAddress} and {@link #suggest} may be called afterwards. */
    public void release() {
        current.release();
        if (target != null) {
            target.release();
        }
        size = 0;
    }

    /** Walks everything and reports contradictions in the structure. Far too slow for the request path. */
    public void checkIntegrity(Consumer<String> problems) {
        IndexIntegrity integrity = new IndexIntegrity(verifier, problems);
        long entries = integrity.check(current, target == null ? 0 : rehashAt, "current");
        if (target != null) {
            entries += integrity.check(target, 0, "target");
        }
        if (entries != size) {
            problems.accept("the size is " + size + ", but the tables have " + entries + " entries");
        }
    }

    /** The distribution of the entries. Walks everything. */
    public IndexShape shape() {
        IndexShape shape = IndexShape.of(current);
        return target == null ? shape : shape.plus(IndexShape.of(target));
    }

    private long findInBoth(IndexTable from, IndexTable to, long hash, long keyAddress, int keyLength) {
        if (IndexBucketLayout.home(hash, from.mask) >= rehashAt) {
            long location = findIn(from, hash, keyAddress, keyLength);
            if (location != NONE) {
                return location;
            }
        }
        return findIn(to, hash, keyAddress, keyLength);
    }

    private long findIn(IndexTable table, long hash, long keyAddress, int keyLength) {
        long home = IndexBucketLayout.home(hash, table.mask);
        long bucket = table.bucketAddress(home);
        long location = findInBucket(bucket, IndexBucketLayout.tag(hash), keyAddress, keyLength);
        if (location == NONE) {
            return IndexBucketLayout.isAlone(bucket) ? NONE : findBeyondHome(table, home, hash, keyAddress, keyLength);
        }
        found.inTarget = table != current;
        found.home = home;
        return location;
    }

    private long findBeyondHome(IndexTable table, long home, long hash, long keyAddress, int keyLength) {
        found.inTarget = table != current;
        found.home = home;
        long bucket = table.bucketAddress(home);
        long extension = IndexBucketLayout.next(bucket);
        if (extension != IndexBucketLayout.NO_BUCKET) {
            long location = findInBucket(table.bucketAddress(extension), IndexBucketLayout.tag(hash), keyAddress,
                    keyLength);
            if (location != NONE) {
                return location;
            }
        }
        if (!IndexBucketLayout.overflowed(bucket)) {
            return NONE;
        }
        int node = table.overflow.find(hash, keyAddress, keyLength);
        if (node == Overflow.NONE) {
            return NONE;
        }
        found.bucket = 0;
        found.slot = node;
        return table.overflow.location(node);
    }

    private long findInBucket(long bucket, short tag, long keyAddress, int keyLength) {
        for (int left = scanner.matches(bucket, tag); left != 0; left &= left - 1) {
            int slot = Integer.numberOfTrailingZeros(left);
            long location = IndexBucketLayout.location(bucket, slot);
            if (verifier.matches(location, keyAddress, keyLength)) {
                found.bucket = bucket;
                found.slot = slot;
                return location;
            }
        }
        return NONE;
    }

    /** As {@link #find}, by location. */
    private boolean locate(long hash, long location) {
        IndexTable second = target;
        return locateIn(current, hash, location) || second != null && locateIn(second, hash, location);
    }

    private boolean locateIn(IndexTable table, long hash, long location) {
        long home = IndexBucketLayout.home(hash, table.mask);
        long bucket = table.bucketAddress(home);
        short tag = IndexBucketLayout.tag(hash);
        found.inTarget = table != current;
        found.home = home;
        if (locateInBucket(bucket, tag, location)) {
            return true;
        }
        long extension = IndexBucketLayout.next(bucket);
        if (extension != IndexBucketLayout.NO_BUCKET && locateInBucket(table.bucketAddress(extension), tag, location)) {
            return true;
        }
        if (!IndexBucketLayout.overflowed(bucket)) {
            return false;
        }
        found.bucket = 0;
        found.slot = table.overflow.locate(hash, location);
        return found.slot != Overflow.NONE;
    }

    private boolean locateInBucket(long bucket, short tag, long location) {
        for (int left = scanner.matches(bucket, tag); left != 0; left &= left - 1) {
            int slot = Integer.numberOfTrailingZeros(left);
            if (IndexBucketLayout.location(bucket, slot) == location) {
                found.bucket = bucket;
                found.slot = slot;
                return true;
            }
        }
        return false;
    }

    private static long suggestIn(IndexTable table, long hash) {
        long bucket = table.bucketAddress(IndexBucketLayout.home(hash, table.mask));
        short tag = IndexBucketLayout.tag(hash);
        long location = IndexBucketLayout.peekLocation(bucket, tag);
        if (location != NONE) {
            return location;
        }
        // SAFETY: this read may return anything, so a number beyond the table is not followed.
        long extension = IndexBucketLayout.peekNext(bucket);
        if (extension < 0 || extension > table.mask) {
            return NONE;
        }
        return IndexBucketLayout.peekLocation(table.bucketAddress(extension), tag);
    }

    private boolean startRehash(long buckets) {
        boolean grows = buckets > current.buckets();
        IndexTable opened = IndexTable.open(buckets, verifier, regions, budget, growLoad, chargeFor(buckets));
        if (opened == null) {
            boolean fits = buckets << IndexBucketLayout.BUCKET_SHIFT <= budget.limitBytes() / MAX_PART_FOR_TABLE;
            crowded |= grows && fits && current.isCrowded();
            if (!grows || crowded) {
                refused(buckets << IndexBucketLayout.BUCKET_SHIFT, grows ? budget.reserveBytes() : 0);
            }
            return false;
        }
        crowded = false;
        refusedBytes = 0;
        rehashAt = 0;
        target = opened;
        return true;
    }

    /**
     * Whether the table should double. If memory is refused, the table keeps its size. The items that would have to be
     * evicted for the larger table are worth more than somewhat shorter searches, and without them the table often need
     * not double. Only a crowded table requests memory by eviction, and then doubles although it is less full.
     */
    private boolean growDue() {
        if (crowded && !current.isWorthDoubling()) {
            // So many entries were removed that it is not crowded, and nothing need be evicted for it.
            crowded = false;
            refusedBytes = 0;
        }
        return current.growDue() || crowded;
    }

    /** A larger table can wait until it fits beside the reserve for writers. */
    private IndexTable.Charge chargeFor(long buckets) {
        if (buckets > current.buckets()) {
            return IndexTable.Charge.BESIDE_RESERVE;
        }
        return mayExceed(buckets) ? IndexTable.Charge.UNCONDITIONAL : IndexTable.Charge.UP_TO_LIMIT;
    }

    /**
     * Whether a table may be opened regardless of the budget: a smaller one, which frees the larger one, if no other
     * memory can be freed for it. Otherwise a limit lowered to the size of the tables could never be met: everything
     * would be evicted, and the tables would keep their size.
     */
    private boolean mayExceed(long buckets) {
        return buckets < current.buckets() && (budget.availableBytes() < 0 || current.isSparse());
    }

    /** If the system refuses memory that the budget allows, eviction does not help. */
    private void refused(long bytes, long kept) {
        refusedBytes = budget.availableBytes() - kept < bytes ? bytes : 0;
    }

    private void endRehash(IndexTable to) {
        assert current.used() == 0 && current.overflow.count() == 0;
        IndexTable old = current;
        current = to;
        target = null;
        rehashAt = 0;
        found.inTarget = false;
        old.release();
    }

    private IndexTable foundTable() {
        return found.inTarget ? Objects.requireNonNull(target) : current;
    }

    private static boolean inRange(long location) {
        return location >= 0 && location <= IndexBucketLayout.MAX_LOCATION;
    }
}
