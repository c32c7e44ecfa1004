package io.varve.memory.offheap;

/** Tests regions on systems without mmap. */
class ArenaRegionsTest extends RegionsContractTest {
    @Override
    Regions create() {
        return new Regions(false);
    }
}
