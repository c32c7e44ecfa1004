package io.varve.server.command.list;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;

/** Lists that are trees as soon as they have two elements. Confined to the test's thread. */
class LargeListCommandsTest extends ListCommandsContractTest {
    LargeListCommandsTest() {
        super(new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4")
                .with("packed-max-entries", "0")), 1200);
    }
}
