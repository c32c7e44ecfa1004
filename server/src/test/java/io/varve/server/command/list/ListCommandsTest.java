package io.varve.server.command.list;

import io.varve.server.command.CommandHarness;

/** Lists in one item. Confined to the test's thread. */
class ListCommandsTest extends ListCommandsContractTest {
    ListCommandsTest() {
        super(new CommandHarness(), 600);
    }
}
