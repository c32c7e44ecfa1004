package io.varve.memory.collection.tree;

/** The node space of a tree object that was not opened: every operation fails. Immutable. */
enum EmptyNodeSpace implements NodeSpace {
    INSTANCE;

    private static IllegalStateException closed() {
        return new IllegalStateException("The tree was not opened");
    }

    @Override
    public int allocate(int tree, int capacity) {
        throw closed();
    }

    @Override
    public long address(int node) {
        throw closed();
    }

    @Override
    public long forWriting(int node) {
        throw closed();
    }

    @Override
    public int capacity(int node) {
        throw closed();
    }

    @Override
    public void resize(int node, int capacity) {
        throw closed();
    }

    @Override
    public void free(int node) {
        throw closed();
    }

    @Override
    public long itemBytes(int capacity) {
        throw closed();
    }

    @Override
    public int targetBytes() {
        throw closed();
    }

    @Override
    public long hash(long address, int length) {
        throw closed();
    }

    @Override
    public boolean reserve(int nodes) {
        throw closed();
    }

    @Override
    public void endReserve() {
        throw closed();
    }

    @Override
    public void begin() {
        throw closed();
    }

    @Override
    public void commit() {
        throw closed();
    }

    @Override
    public long rollback() {
        throw closed();
    }
}
