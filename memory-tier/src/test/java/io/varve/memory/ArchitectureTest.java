package io.varve.memory;

import java.util.List;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/** The walls between the rooms of this module. */
final class ArchitectureTest {
    private static final String ROOT = "io.varve.memory";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages(ROOT);

    @Test
    void roomsFormNoCycle() {
        slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void indexAndSegmentDoNotKnowEachOther() {
        forbid("index", "segment");
        forbid("segment", "index");
    }

    @Test
    void onlyTheShardMarriesRooms() {
        for (String room : List.of("index", "segment", "expiry", "eviction", "collection")) {
            for (String other : List.of("index", "segment", "expiry", "eviction", "collection", "shard")) {
                if (!room.equals(other)) {
                    forbid(room, other);
                }
            }
        }
    }

    /** Curves are probability: keys are numbers there, and nothing is read or written. */
    @Test
    void localityKnowsNobody() {
        noClasses().that().resideInAPackage(ROOT + ".locality..").should().dependOnClassesThat()
                .resideOutsideOfPackages(ROOT + ".locality..", "java.lang..", "java.util..", "java.nio",
                        "org.jspecify..")
                .check(CLASSES);
        noClasses().that().resideInAPackage(ROOT + ".locality..").should().dependOnClassesThat()
                .resideInAPackage("java.lang.foreign..").check(CLASSES);
    }

    /** What is remembered of keys that have gone needs memory and a clock, and no item. */
    @Test
    void penaltyKnowsCurvesMemoryAndTheClock() {
        noClasses().that().resideInAPackage(ROOT + ".penalty..").should().dependOnClassesThat()
                .resideOutsideOfPackages(ROOT + ".penalty..", ROOT + ".locality..", ROOT + ".offheap..",
                        ROOT + ".item..", "java.lang..", "java.util..", "org.jspecify..")
                .check(CLASSES);
        noClasses().that().resideInAPackage(ROOT + ".penalty..").should().dependOnClassesThat(
                resideInAPackage(ROOT + ".item..").and(not(simpleName("Ticker")))).check(CLASSES);
    }

    @Test
    void noRoomKnowsTheDoor() {
        ArchRule rule = noClasses().that().resideInAPackage(ROOT + ".*..").should().dependOnClassesThat()
                .resideInAPackage(ROOT);
        rule.check(CLASSES);
    }

    @Test
    void theVectorApiStaysInItsRoom() {
        noClasses().that().resideOutsideOfPackage(ROOT + ".index.vector").should().dependOnClassesThat()
                .resideInAPackage("jdk.incubator.vector..").check(CLASSES);
    }

    @Test
    void rawMemoryHasOneDoor() {
        noClasses().that().resideOutsideOfPackages(ROOT + ".offheap", ROOT + ".index.vector").should()
                .dependOnClassesThat().haveNameMatching("java\\.lang\\.foreign\\.(Arena|Linker|SymbolLookup)")
                .check(CLASSES);
    }

    @Test
    void timeIsInjected() {
        noClasses().that().doNotHaveSimpleName("SystemTicker").should().callMethod(System.class, "currentTimeMillis")
                .orShould().callMethod(System.class, "nanoTime").check(CLASSES);
    }

    private static void forbid(String room, String other) {
        noClasses().that().resideInAPackage(ROOT + "." + room + "..").should().dependOnClassesThat()
                .resideInAPackage(ROOT + "." + other + "..").allowEmptyShould(true).check(CLASSES);
    }
}
