package io.varve.memory.offheap;

/** Regions where the system has no mmap. */
class ArenaRegionsTest extends RegionsContractTest {
    @Override
    Regions create() {
        return new Regions(false);
    }
}
