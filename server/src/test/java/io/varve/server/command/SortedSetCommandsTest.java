package io.varve.server.command;

/** Sorted sets in one item. Confined to the test's thread. */
class SortedSetCommandsTest extends SortedSetCommandsContractTest {
    SortedSetCommandsTest() {
        super(new CommandHarness(), 99);
    }
}
