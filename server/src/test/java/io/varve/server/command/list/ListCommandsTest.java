package io.varve.server.command.list;

import io.varve.server.command.CommandHarness;

/** Commands on packed lists. Confined to the test's thread. */
class ListCommandsTest extends ListCommandsContractTest {
    ListCommandsTest() {
        super(new CommandHarness(), 600);
    }
}
