package io.varve.proxy.client;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.varve.cluster.map.HashSlot;
import io.varve.proxy.client.CommandRoutes.Route;
import io.varve.server.CommandCatalog;
import io.varve.server.command.CommandTable;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.resp.RequestHeapBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests what the proxy does with each command, and that it finds their keys. Confined to the test's thread. */
class CommandRoutesTest {
    private static final CommandTable TABLE = CommandCatalog.open();

    private final CommandRoutes routes = new CommandRoutes(TABLE);

    private Route route(String name) {
        return routes.of(java.util.Objects.requireNonNull(TABLE.find(name)));
    }

    @ParameterizedTest
    @CsvSource({"get,GET", "set,FORWARD", "mget,MGET", "mset,MSET", "msetnx,FORWARD", "unlink,COUNT_KEYS",
            "blpop,BLOCKING",
            "object|encoding,FORWARD", "memory|usage,FORWARD", "config|get,REFUSED", "shutdown,REFUSED",
            "debug,REFUSED",
            "client|setname,OWN", "acl|whoami,REFUSED", "publish,PUBLISH", "watch,TRANSACTION", "wait,REFUSED",
            "replicaof,REFUSED", "swapdb,REFUSED", "command|docs,ANY", "scan,SCAN", "sscan,FORWARD"})
    void commands_haveTheirRoutes(String name, Route expected) {
        assertThat(route(name)).isEqualTo(expected);
    }

    @Test
    void commandsWithKeys_areServed() {
        List<CommandSpec> refused = TABLE.all().stream()
                .filter(spec -> spec.namesKeys() && routes.of(spec) == Route.REFUSED).toList();
        assertThat(refused).extracting(CommandSpec::fullName)
                .allMatch(name -> name.startsWith("debug") || name.equals("move") || name.equals("migrate"));
    }

    private static String slots(String... words) {
        ByteBuf input = io.varve.proxy.resp.Requests.of(PooledByteBufAllocator.DEFAULT, words);
        ClientInput decoder = new ClientInput(PooledByteBufAllocator.DEFAULT, RequestHeapBudget.ofHeapPart(8), 1 << 20,
                1 << 20);
        try {
            assertThat(decoder.receive(input)).isTrue();
            assertThat(decoder.next(true)).isTrue();
            Request request = decoder.request();
            CommandSpec spec = TABLE.find(request.argumentAddress(0), request.argumentLength(0));
            RequestKeys keys = new RequestKeys();
            keys.find(java.util.Objects.requireNonNull(spec), request);
            return keys.count() + " keys, slot " + keys.slot(request);
        } finally {
            decoder.close();
        }
    }

    @Test
    void keys_areFoundWithTheirSlot() {
        assertThat(slots("GET", "foo")).isEqualTo("1 keys, slot 12182");
        assertThat(slots("MSET", "{a}1", "v", "{a}2", "v")).isEqualTo("2 keys, slot " + HashSlot.of("a"));
        assertThat(slots("DEL", "a", "b")).isEqualTo("2 keys, slot " + RequestKeys.SEVERAL_SLOTS);
        assertThat(slots("ZUNIONSTORE", "{a}d", "2", "{a}1", "{a}2", "WEIGHTS", "1", "2"))
                .isEqualTo("3 keys, slot " + HashSlot.of("a"));
        assertThat(slots("ZUNIONSTORE", "d", "0", "x")).isEqualTo("0 keys, slot " + RequestKeys.NO_SLOT);
        assertThat(slots("BLPOP", "x", "x", "0")).isEqualTo("2 keys, slot " + HashSlot.of("x"));
    }

    @Test
    void slotsInPlace_areThoseOfTheSlotMap() {
        Random random = new Random(42);
        for (int i = 0; i < 2_000; i++) {
            StringBuilder key = new StringBuilder();
            for (int j = random.nextInt(12); j >= 0; j--) {
                key.append("{}ab\u0001".charAt(random.nextInt(5)));
            }
            int expected = HashSlot.of(key.toString().getBytes(StandardCharsets.ISO_8859_1));
            assertThat(slots("GET", key.toString())).as("%s", key).isEqualTo("1 keys, slot " + expected);
        }
    }
}
