package io.varve.server.admin;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the bounds of {@link UnknownCommands}, whose names clients choose. Confined to the test's thread. */
class UnknownCommandsTest {
    private final UnknownCommands unknown = new UnknownCommands();

    private void add(String name) {
        unknown.add(name, "127.0.0.1:1", 0);
    }

    @Test
    void manyNames_keepsTheFrequentOnes() {
        for (int i = 0; i < 10_000; i++) {
            add("RARE" + i);
            if (i % 10 == 0) {
                add("EVALSHA");
            }
        }
        assertThat(unknown.total()).isEqualTo(11_000);
        assertThat(unknown.byName()).hasSize(UnknownCommands.MAX_NAMES).containsEntry("evalsha", 1000L);
        assertThat(unknown.byName().keySet()).first().isEqualTo("evalsha");
    }

    @Test
    void namesWithAnything_arePlainAndShort() {
        add("x".repeat(1000));
        add("\0\r\n é:=,# A-Z.0|9_");
        add("");
        assertThat(unknown.byName()).containsOnlyKeys("x".repeat(UnknownCommands.MAX_NAME_CHARS),
                "_".repeat(10) + "a-z.0|9_",
                "");
    }

    @Test
    void reset_forgetsAll() {
        add("EVAL");
        unknown.reset();
        assertThat(unknown.total()).isZero();
        assertThat(unknown.byName()).isEmpty();
    }
}
