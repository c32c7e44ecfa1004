package io.varve.server.command;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.item.Ticker;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Whose connections are ended. Confined to the test's thread. */
class ClientsTest {
    /** A connection without a socket, which notes when it is killed. Confined to the test's thread. */
    private record Noting(String name, List<String> killed) implements Connection {
        @Override
        public void kill() {
            killed.add(name);
        }

        @Override
        public void mailCame() {
            // Nobody writes to it.
        }

        @Override
        public long outgoingBytes() {
            return 0;
        }

        @Override
        public long incomingBytes() {
            return 0;
        }

        @Override
        public long incomingCapacityBytes() {
            return 0;
        }

        @Override
        public int fileDescriptor() {
            return -1;
        }
    }

    @Test
    void aListenerIsCutOffOnceHoweverLongItsConnectionTakesToEnd() {
        List<String> killed = new ArrayList<>();
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "2");
        try (Cache cache = Cache.open(config.cacheConfig())) {
            ServerContext server = new ServerContext(cache, config, Ticker.system(), _ -> {});
            Client one = server.connect(new Noting("one", killed), "127.0.0.1:1", "127.0.0.1:2");
            Client two = server.connect(new Noting("two", killed), "127.0.0.1:3", "127.0.0.1:2");
            server.clients().killListeners(who -> who.equals(one.subscriptions()));
            assertThat(killed).containsExactly("one");
            server.clients().killListeners(_ -> true);
            server.clients().killListeners(_ -> true);
            assertThat(killed).containsExactly("one", "two");
            server.disconnect(one);
            server.disconnect(two);
        }
    }
}
