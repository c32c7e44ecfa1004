package io.varve.server.pubsub;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests monitors, and the budget of undelivered lines. Confined to the test's thread. */
class MonitorsTest {
    private static final int LINES_BYTES = 2048;

    private final RequestHeapBudget names = new RequestHeapBudget(4096);
    private final RequestHeapBudget lines = new RequestHeapBudget(LINES_BYTES);
    private final Channels channels = new Channels(names, new RequestHeapBudget(4096), () -> 4096, lines);
    private final Monitors monitors = channels.monitors();
    private final ReplyWriter reply = new ReplyWriter(UnpooledByteBufAllocator.DEFAULT, new RequestHeapBudget(1 << 20));
    private final AtomicInteger wakeUps = new AtomicInteger();

    @AfterEach
    void close() {
        reply.close();
        assertThat(names.reservedBytes()).isZero();
        assertThat(lines.reservedBytes()).isZero();
    }

    private Subscriptions monitor() {
        Subscriptions client = new Subscriptions(channels, wakeUps::incrementAndGet);
        client.monitor();
        return client;
    }

    private String mailOf(Subscriptions client) {
        client.beginDelivery();
        client.writeAll(reply);
        List<ByteBuf> pieces = new ArrayList<>();
        reply.take(pieces::add);
        StringBuilder text = new StringBuilder();
        for (ByteBuf piece : pieces) {
            text.append(piece.toString(US_ASCII));
            piece.release();
        }
        return text.toString().replace("\r\n", " ").strip();
    }

    @Test
    void withoutMonitorsNoLineIsKept() {
        assertThat(monitors.isAny()).isFalse();
        assertThat(monitors.publish("a")).isTrue();
        Subscriptions client = monitor();
        assertThat(monitors.isAny()).isTrue();
        client.end();
        assertThat(monitors.isAny()).isFalse();
        assertThat(wakeUps).hasValue(0);
    }

    @Test
    void aLineIsChargedOnceAndUntilAllHaveIt() {
        Subscriptions one = monitor();
        assertThat(monitors.publish("a")).isTrue();
        long alone = lines.reservedBytes();
        assertThat(mailOf(one)).isEqualTo("+a");
        Subscriptions two = monitor();
        two.monitor();
        assertThat(monitors.publish("a")).isTrue();
        assertThat(lines.reservedBytes()).isEqualTo(channels.undeliveredBytes()).isBetween(alone + 1, 2 * alone - 1);
        assertThat(mailOf(two)).as("sent once, although it subscribed twice").isEqualTo("+a");
        assertThat(lines.reservedBytes()).isPositive();
        assertThat(mailOf(one)).isEqualTo("+a");
        assertThat(lines.reservedBytes()).isZero();
        one.end();
        two.end();
    }

    @Test
    void linesAreDroppedWhileMemoryIsExhausted() {
        Subscriptions client = monitor();
        int reported = 0;
        while (monitors.publish("line " + reported)) {
            reported++;
        }
        assertThat(reported).isBetween(5, 30);
        assertThat(wakeUps).hasValue(1);
        assertThat(mailOf(client)).startsWith("+line 0 +line 1 ").endsWith("+line " + (reported - 1));
        assertThat(monitors.publish("more")).isTrue();
        client.end();
        assertThat(lines.reservedBytes()).as("what waits is dropped with the client").isZero();
        assertThat(monitors.publish("x".repeat(LINES_BYTES))).as("no monitors").isTrue();
    }

    @Test
    void aRemovedMonitorReceivesNoPendingLine() {
        Subscriptions client = monitor();
        assertThat(monitors.publish("a")).isTrue();
        client.clear();
        assertThat(client.isMonitoring()).isFalse();
        assertThat(mailOf(client)).isEmpty();
        client.end();
    }
}
