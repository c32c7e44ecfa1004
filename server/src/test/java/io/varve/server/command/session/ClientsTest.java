package io.varve.server.command.session;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.item.Ticker;
import io.varve.server.command.ServerState;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.StubConnection;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Closing the connections of subscribers. Confined to the test's thread. */
class ClientsTest {
    @Test
    void aSubscriberIsDisconnectedOnce() {
        List<String> killed = new ArrayList<>();
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "2");
        try (Cache cache = Cache.open(config.cacheConfig())) {
            ServerState server = new ServerState(cache, config, Ticker.system(), _ -> {});
            Client one = server.lifecycle().connect(new StubConnection(() -> killed.add("one")), "127.0.0.1:1",
                    "127.0.0.1:2");
            Client two = server.lifecycle().connect(new StubConnection(() -> killed.add("two")), "127.0.0.1:3",
                    "127.0.0.1:2");
            server.lifecycle().clients().killListeners(who -> who.equals(one.subscriptions()));
            assertThat(killed).containsExactly("one");
            server.lifecycle().clients().killListeners(_ -> true);
            server.lifecycle().clients().killListeners(_ -> true);
            assertThat(killed).containsExactly("one", "two");
            server.lifecycle().disconnect(one);
            server.lifecycle().disconnect(two);
        }
    }
}
