package io.varve.server.command.sortedset;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;

/** Commands on sorted sets that are trees from two members on. Confined to the test's thread. */
class LargeSortedSetCommandsTest extends SortedSetCommandsContractTest {
    LargeSortedSetCommandsTest() {
        super(new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4")
                .with("packed-max-entries", "0")), 2500);
    }
}
