package io.varve.memory.index;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/** Walks the tables of an index and reports contradictions in their structure. Confined to its caller's thread. */
final class IndexIntegrity {
    private final KeyVerifier verifier;
    private final Consumer<String> problems;
    private final Set<Long> seen = new HashSet<>();

    IndexIntegrity(KeyVerifier verifier, Consumer<String> problems) {
        this.verifier = verifier;
        this.problems = problems;
    }

    /**
     * @param firstHome the first home bucket that may have entries in this table
     * @return the number of its entries
     */
    long check(IndexTable table, long firstHome, String name) {
        long slots = 0;
        for (long b = 0; b < table.buckets(); b++) {
            slots += checkBucket(table, b, firstHome, name);
        }
        if (slots != table.used()) {
            problems.accept(name + ": " + table.used() + " used slots recorded, but " + slots + " are used");
        }
        return slots + checkOverflow(table, firstHome, name);
    }

    private long checkBucket(IndexTable table, long number, long firstHome, String name) {
        long bucket = table.bucketAddress(number);
        String where = name + " bucket " + number;
        int valid = IndexBucketLayout.valid(bucket);
        int natives = IndexBucketLayout.natives(bucket);
        if ((natives & ~valid) != 0) {
            problems.accept(where + ": native flags of empty slots, num " + valid + ", flag " + natives);
        }
        long next = IndexBucketLayout.next(bucket);
        if (next != IndexBucketLayout.NO_BUCKET
                && (next > table.mask || !IndexTable.isProbeOf(number, next, table.mask))) {
            problems.accept(where + ": " + next + " is not its extension bucket");
        }
        if (IndexBucketLayout.overflowed(bucket) != (table.overflow.firstOfHome(number) != Overflow.NONE)) {
            problems.accept(where + ": overflow mark " + IndexBucketLayout.overflowed(bucket)
                    + " contradicts the overflow");
        }
        for (int left = valid; left != 0; left &= left - 1) {
            int slot = Integer.numberOfTrailingZeros(left);
            boolean isNative = (natives & 1 << slot) != 0;
            checkSlot(table, number, slot, isNative, firstHome, where + " slot " + slot);
        }
        return Integer.bitCount(valid);
    }

    private void checkSlot(IndexTable table, long number, int slot, boolean isNative, long firstHome, String where) {
        long bucket = table.bucketAddress(number);
        long location = IndexBucketLayout.location(bucket, slot);
        long hash = verifier.hashOf(location);
        long home = IndexBucketLayout.home(hash, table.mask);
        checkEntry(location, home, firstHome, where);
        if (IndexBucketLayout.tag(bucket, slot) != IndexBucketLayout.tag(hash)) {
            problems.accept(where + ": the tag is not that of location " + location);
        }
        if (isNative != (home == number)) {
            problems.accept(where + ": native " + isNative + ", but the home bucket is " + home);
        }
        if (home != number && IndexBucketLayout.next(table.bucketAddress(home)) != number) {
            problems.accept(where + ": not found from home bucket " + home + ", whose extension bucket is "
                    + IndexBucketLayout.next(table.bucketAddress(home)));
        }
    }

    private long checkOverflow(IndexTable table, long firstHome, String name) {
        Overflow overflow = table.overflow;
        for (int node = 1; node <= overflow.count(); node++) {
            String where = name + " overflow node " + node;
            long location = overflow.location(node);
            long hash = verifier.hashOf(location);
            if (overflow.hash(node) != hash) {
                problems.accept(where + ": the hash is not that of location " + location);
            }
            checkEntry(location, IndexBucketLayout.home(hash, table.mask), firstHome, where);
            if (overflow.locate(hash, location) == Overflow.NONE) {
                problems.accept(where + ": not found by its hash");
            }
        }
        long byHome = 0;
        for (long home = 0; home < table.buckets(); home++) {
            for (int node = overflow.firstOfHome(home); node != Overflow.NONE; node = overflow.nextOfHome(node)) {
                byHome++;
            }
        }
        if (byHome != overflow.count()) {
            problems.accept(
                    name + ": " + byHome + " overflow entries found by home bucket, of " + overflow.count());
        }
        return byHome;
    }

    private void checkEntry(long location, long home, long firstHome, String where) {
        if (!seen.add(location)) {
            problems.accept(where + ": location " + location + " occurs twice");
        }
        if (home < firstHome) {
            problems.accept(where + ": home bucket " + home + " was moved, but its entry was not");
        }
    }
}
