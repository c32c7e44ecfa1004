package io.varve.server.command.sortedset;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;

/** Sorted sets that are trees as soon as they have two members. Confined to the test's thread. */
class LargeSortedSetCommandsTest extends SortedSetCommandsContractTest {
    LargeSortedSetCommandsTest() {
        super(new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4")
                .with("packed-max-entries", "0")), 2500);
    }
}
