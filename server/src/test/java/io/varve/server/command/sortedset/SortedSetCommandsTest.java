package io.varve.server.command.sortedset;

import io.varve.server.command.CommandHarness;

/** Commands on packed sorted sets. Confined to the test's thread. */
class SortedSetCommandsTest extends SortedSetCommandsContractTest {
    SortedSetCommandsTest() {
        super(new CommandHarness(), 99);
    }
}
