package io.varve.server.clustering;

import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link SlotImports}. Confined to the test's thread. */
class SlotImportsTest {
    private final SlotImports imports = new SlotImports();

    @Test
    void theLastAttempt_isAccepted() {
        assertThat(imports.accepts(1, "a", 10)).isFalse();
        assertThat(imports.begin(1, "a", 5, 1, 10)).isTrue();
        assertThat(imports.accepts(1, "a", 10)).isTrue();
        assertThat(imports.accepts(1, "b", 10)).isFalse();
        assertThat(imports.accepts(2, "a", 10)).isFalse();
        assertThat(imports.begin(1, "a", 5, 2, 11)).isTrue();
        assertThat(imports.accepts(1, "a", 10)).isFalse();
        assertThat(imports.begin(1, "a", 6, 1, 12)).isTrue();
        assertThat(imports.accepts(1, "a", 12)).isTrue();
    }

    @Test
    void earlierAttempts_areRefused() {
        assertThat(imports.begin(1, "a", 5, 2, 10)).isTrue();
        assertThat(imports.begin(1, "a", 5, 1, 11)).isFalse();
        assertThat(imports.begin(1, "a", 5, 2, 11)).isFalse();
        assertThat(imports.begin(1, "a", 4, 9, 11)).isFalse();
        assertThat(imports.accepts(1, "a", 10)).isTrue();
        // The map decides who is the source.
        assertThat(imports.begin(1, "b", 1, 1, 12)).isTrue();
        assertThat(imports.accepts(1, "a", 10)).isFalse();
    }

    @Test
    void anAttemptEnds_whenTheSlotIsNotImporting() {
        imports.begin(1, "a", 5, 2, 10);
        imports.begin(2, "a", 5, 2, 10);
        imports.retain(Set.of(2));
        assertThat(imports.accepts(1, "a", 10)).isFalse();
        assertThat(imports.accepts(2, "a", 10)).isTrue();
        assertThat(imports.begin(1, "a", 5, 1, 10)).isFalse();
        assertThat(imports.begin(1, "a", 5, 3, 10)).isTrue();
    }

    @Test
    void emptySlot_isKnownToTheFirstAttemptOnly() {
        imports.knowEmpty(1);
        imports.knowEmpty(2);
        assertThat(imports.takeEmpty(1)).isTrue();
        assertThat(imports.takeEmpty(1)).isFalse();
        // Slot 2 is not importing any more, and may have keys of an aborted attempt.
        imports.retain(Set.of(1));
        assertThat(imports.takeEmpty(2)).isFalse();
        assertThat(imports.takeEmpty(3)).isFalse();
    }
}
