package io.varve.server.command.list;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;

/** Commands on lists that are trees from two elements on. Confined to the test's thread. */
class LargeListCommandsTest extends ListCommandsContractTest {
    LargeListCommandsTest() {
        super(new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4")
                .with("packed-max-entries", "0")), 1200);
    }
}
