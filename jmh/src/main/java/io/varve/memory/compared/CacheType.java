package io.varve.memory.compared;

/** The caches that are compared. Immutable. */
public enum CacheType {
    VARVE, OHC, CHRONICLE, EHCACHE, MAPDB,
    /** On the heap: no rival, a measure of what leaving the heap costs. */
    CAFFEINE;

    /** An empty cache with room for so many entries. */
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
