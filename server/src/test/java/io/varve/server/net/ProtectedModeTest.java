package io.varve.server.net;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.varve.memory.item.ValueRun;
import io.varve.server.command.ServerState;
import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.LargeBulks;
import io.varve.server.testing.StubCache;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which clients are refused while there is no password. Confined to the test's thread. */
class ProtectedModeTest {
    private static final ServerConfig CONFIG = ServerConfig.defaults().with("maxmemory", "64mb");

    private static ServerState server(ServerConfig config) {
        ServerState server = new ServerState(StubCache.create(config.cacheConfig()), config,
                config.cacheConfig().ticker(), _ -> {});
        assertThat(CommandFamilies.table(server).size()).isPositive();
        return server;
    }

    private static SocketAddress address(String text) {
        return new InetSocketAddress(InetAddress.ofLiteral(text), 5000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"192.0.2.1", "10.0.0.1", "2001:db8::1", "fe80::1", "::ffff:192.0.2.1"})
    void remoteClientsAreRejectedWithoutAPassword(String from) {
        assertThat(ProtectedMode.refusal(server(CONFIG), address(from)))
                .startsWith("DENIED Redis is running in protected mode");
        assertThat(ProtectedMode.refusal(server(CONFIG.with("requirepass", "x")), address(from))).isNull();
        assertThat(ProtectedMode.refusal(server(CONFIG.with("protected-mode", "no")), address(from))).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"})
    void localClientsAreAccepted(String from) {
        assertThat(ProtectedMode.refusal(server(CONFIG), address(from))).isNull();
    }

    @Test
    void rejectedClientsGetTheReason() {
        ServerState server = server(CONFIG);
        EmbeddedChannel channel = new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return address("192.0.2.1");
            }
        };
        ConnectionBuffers buffers = new ConnectionBuffers(ByteBufAllocator.DEFAULT, server.cache(),
                server.argumentMemory());
        channel.pipeline().addLast(new ConnectionHandler(server, new Workers(server, server.commands(), buffers),
                NO_RUNS, buffers, channel, null));
        channel.pipeline().fireChannelActive();
        ByteBuf reported = channel.readOutbound();
        assertThat(reported.toString(StandardCharsets.US_ASCII))
                .startsWith("-DENIED Redis is running in protected mode")
                .endsWith("from the outside.\r\n");
        reported.release();
        assertThat(channel.isOpen()).isFalse();
        assertThat(server.lifecycle().clients().rejected()).isEqualTo(1);
        assertThat(server.lifecycle().clients().count()).isZero();
    }

    private static final LargeBulks NO_RUNS = new LargeBulks() {
        @Override
        public int thresholdBytes() {
            return 1 << 20;
        }

        @Override
        public @Nullable ValueRun open(Earlier earlier, int longestArgument, int length) {
            return null;
        }
    };

    @Test
    void aUserWithAPasswordDoesAsWell() throws io.varve.server.acl.RuleException {
        ServerState server = server(CONFIG);
        server.access().set("default", java.util.List.of("resetpass", ">x"));
        assertThat(ProtectedMode.refusal(server, address("192.0.2.1"))).isNull();
    }
}
