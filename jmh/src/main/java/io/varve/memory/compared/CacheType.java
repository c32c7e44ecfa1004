package io.varve.memory.compared;

/** The compared caches. Immutable. */
public enum CacheType {
    VARVE, OHC, CHRONICLE, EHCACHE, MAPDB,
    /** On the heap: not a competitor, but a baseline for the cost of off-heap storage. */
    CAFFEINE;

    /** Creates an empty cache with space for this many entries. */
    public ComparedCache open(long entries) {
        return switch (this) {
            case VARVE -> new VarveCache(entries);
            case OHC -> new OhcCache(entries);
            case CHRONICLE -> new ChronicleMapCache(entries);
            case EHCACHE -> new EhcacheCache(entries);
            case MAPDB -> new MapDbCache(entries);
            case CAFFEINE -> new CaffeineCache(entries);
        };
    }
}
