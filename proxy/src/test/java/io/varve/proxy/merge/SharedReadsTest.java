package io.varve.proxy.merge;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.proxy.resp.ReplyTarget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which reads may share an answer, step by step. Confined to the test's thread. */
class SharedReadsTest {
    private static final ByteBuf KEY = key("k");
    private static final ByteBuf OTHER_KEY = key("x");

    private final WriteStamps stamps = new WriteStamps();
    private final LongAdder joined = new LongAdder();
    private final SharedReads reads = new SharedReads(stamps, joined);
    private final List<String> answers = new ArrayList<>();

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    private ReplyTarget client(String name) {
        return reply -> {
            answers.add(name + "=" + reply.toString(StandardCharsets.US_ASCII));
            reply.release();
        };
    }

    private static ByteBuf key(String name) {
        return Unpooled.directBuffer(name.length()).writeBytes(name.getBytes(StandardCharsets.US_ASCII));
    }

    private static int stripe(ByteBuf key) {
        return WriteStamps.stripe(key.memoryAddress(), key.readableBytes());
    }

    private @Nullable ReplyTarget read(ByteBuf key, String name) {
        return reads.joinOrLead(key.memoryAddress(), key.readableBytes(), client(name));
    }

    private ReplyTarget lead(String name) {
        return Objects.requireNonNull(read(KEY, name));
    }

    private boolean joins(String name) {
        return read(KEY, name) == null;
    }

    @Test
    void readsInFlight_share_untilTheAnswer() {
        ReplyTarget leader = lead("a");
        assertThat(joins("b")).isTrue();
        assertThat(joins("c")).isTrue();
        assertThat(read(OTHER_KEY, "d")).isNotNull();
        ByteBuf reply = text("1");
        leader.accept(reply);
        assertThat(answers).containsExactlyInAnyOrder("a=1", "b=1", "c=1");
        assertThat(reply.refCnt()).isZero();
        assertThat(joined.sum()).isEqualTo(2);
        assertThat(joins("e")).isFalse();
    }

    @Test
    void aWriteThatBegins_endsTheSharing_forGood() {
        lead("a");
        WriteStamps.Write write = stamps.begin(new int[] {stripe(KEY)});
        assertThat(joins("b")).isFalse();
        write.end();
        assertThat(joins("c")).isFalse();
    }

    @Test
    void aReadSentDuringAWrite_isNotShared_evenAfterIt() {
        WriteStamps.Write write = stamps.begin(new int[] {stripe(KEY)});
        ReplyTarget unshared = lead("a");
        assertThat(joins("b")).isFalse();
        write.end();
        // The read may have overtaken the write on another connection.
        assertThat(joins("c")).isFalse();
        unshared.accept(text("1"));
        assertThat(answers).containsExactly("a=1");
    }

    @Test
    void aReadAfterAWrite_isShared_whileTheOlderOneIsInFlight() {
        ReplyTarget old = lead("a");
        stamps.begin(new int[] {stripe(KEY)}).end();
        ReplyTarget recent = lead("b");
        assertThat(joins("c")).isTrue();
        old.accept(text("old"));
        assertThat(joins("d")).isTrue();
        recent.accept(text("new"));
        assertThat(answers).containsExactlyInAnyOrder("a=old", "c=new", "d=new", "b=new");
    }

    @Test
    void aWriteToAnotherKey_endsNothing_andOneToAllKeysDoes() {
        lead("a");
        stamps.begin(new int[] {stripe(OTHER_KEY)});
        assertThat(joins("b")).isTrue();
        WriteStamps.Write flush = stamps.begin(new int[0]);
        assertThat(joins("c")).isFalse();
        flush.end();
        assertThat(joins("d")).isFalse();
    }

    @Test
    void overlappingWrites_areCounted() {
        WriteStamps.Write first = stamps.begin(new int[] {stripe(KEY)});
        WriteStamps.Write second = stamps.begin(new int[] {stripe(KEY), stripe(KEY)});
        first.end();
        lead("a");
        assertThat(joins("b")).isFalse();
        second.end();
        lead("c");
        assertThat(joins("d")).isTrue();
    }

    @Test
    void manyReads_areKeptApart_whileTheirTableGrows() {
        int count = 5_000;
        List<ByteBuf> keys = new ArrayList<>();
        List<ReplyTarget> leaders = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ByteBuf key = key("key".repeat(i % 5) + i);
            keys.add(key);
            leaders.add(Objects.requireNonNull(read(key, "lead" + i)));
        }
        for (int i = 0; i < count; i += 2) {
            ByteBuf copy = keys.get(i).copy();
            assertThat(read(copy, "join" + i)).isNull();
            copy.release();
        }
        for (int i = 0; i < count; i++) {
            leaders.get(i).accept(text(Integer.toString(i)));
            assertThat(answers).contains("lead" + i + "=" + i);
            assertThat(answers).hasSize(i % 2 == 0 ? 2 : 1);
            answers.clear();
            Objects.requireNonNull(read(keys.get(i), "again" + i)).accept(text(""));
            answers.clear();
        }
        keys.forEach(ByteBuf::release);
    }
}
