package io.varve.memory;

/** The in-memory implementation. */
abstract class InMemoryCache implements Cache {
    static Cache open(CacheConfig config) {
        throw new UnsupportedOperationException("under construction: " + config);
    }
}
