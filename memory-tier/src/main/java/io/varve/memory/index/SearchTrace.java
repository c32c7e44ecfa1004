package io.varve.memory.index;

/**
 * The memory that a search of an {@link Index} reads, for measurements of cache misses. Stateless. The caller holds the
 * shard's lock.
 */
public final class SearchTrace {
    private SearchTrace() {}

    /** Receives what a search reads, in the order of the search. */
    public interface Visitor {
        /** A bucket of {@code bytes} bytes was read. */
        void bucket(long address, int bytes);

        /** @return whether the item at this location, which has the tag, has the key: the search ends */
        boolean candidate(long location);

        /** The entries beyond the buckets are searched too. */
        void overflow();
    }

    /** Follows the search for a hash. */
    public static void follow(Index index, long hash, Visitor visitor) {
        IndexTable second = index.searchedSecond(hash);
        if (!follow(index.searchedFirst(hash), hash, visitor) && second != null) {
            follow(second, hash, visitor);
        }
    }

    private static boolean follow(IndexTable table, long hash, Visitor visitor) {
        long home = table.bucketAddress(IndexBucketLayout.home(hash, table.mask));
        if (isIn(home, hash, visitor)) {
            return true;
        }
        long extension = IndexBucketLayout.next(home);
        if (extension != IndexBucketLayout.NO_BUCKET && isIn(table.bucketAddress(extension), hash, visitor)) {
            return true;
        }
        if (IndexBucketLayout.overflowed(home)) {
            visitor.overflow();
        }
        return false;
    }

    private static boolean isIn(long bucket, long hash, Visitor visitor) {
        visitor.bucket(bucket, IndexBucketLayout.BUCKET_BYTES);
        int slots = IndexBucketLayout.peekMatches(bucket, IndexBucketLayout.tag(hash));
        while (slots != 0) {
            if (visitor.candidate(IndexBucketLayout.peekLocation(bucket, Integer.numberOfTrailingZeros(slots)))) {
                return true;
            }
            slots &= slots - 1;
        }
        return false;
    }
}
