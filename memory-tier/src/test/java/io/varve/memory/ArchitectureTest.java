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

/** Tests the dependency rules between the packages of this module. */
final class ArchitectureTest {
    private static final String ROOT = "io.varve.memory";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages(ROOT);

    @Test
    void packages_formNoCycle() {
        slices().matching("(io.varve.memory..)").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void indexAndSegment_areIndependent() {
        forbid("index", "segment");
        forbid("segment", "index");
    }

    @Test
    void shard_aloneCombinesPackages() {
        for (String name : List.of("index", "segment", "expiry", "eviction", "collection")) {
            for (String other : List.of("index", "segment", "expiry", "eviction", "collection", "shard")) {
                if (!name.equals(other)) {
                    forbid(name, other);
                }
            }
        }
    }

    /** Curves are probability: keys are numbers there, and nothing is read or written. */
    @Test
    void locality_isPure() {
        noClasses().that().resideInAPackage(ROOT + ".locality..").should().dependOnClassesThat()
                .resideOutsideOfPackages(ROOT + ".locality..", "java.lang..", "java.util..", "java.nio",
                        "org.jspecify..")
                .check(CLASSES);
        noClasses().that().resideInAPackage(ROOT + ".locality..").should().dependOnClassesThat()
                .resideInAPackage("java.lang.foreign..").check(CLASSES);
    }

    /** The record of absent keys needs memory and a clock, and no item. */
    @Test
    void penalty_dependsOnCurvesMemoryAndClock() {
        noClasses().that().resideInAPackage(ROOT + ".penalty..").should().dependOnClassesThat()
                .resideOutsideOfPackages(ROOT + ".penalty..", ROOT + ".locality..", ROOT + ".offheap..",
                        ROOT + ".item..", "java.lang..", "java.util..", "org.jspecify..")
                .check(CLASSES);
        noClasses().that().resideInAPackage(ROOT + ".penalty..").should().dependOnClassesThat(
                resideInAPackage(ROOT + ".item..").and(not(simpleName("Ticker")))).check(CLASSES);
    }

    @Test
    void packages_dependNotOnTheRoot() {
        ArchRule rule = noClasses().that().resideInAPackage(ROOT + ".*..").should().dependOnClassesThat()
                .resideInAPackage(ROOT);
        rule.check(CLASSES);
    }

    @Test
    void vectorApi_isUsedInOnePackage() {
        noClasses().that().resideOutsideOfPackage(ROOT + ".index.vector").should().dependOnClassesThat()
                .resideInAPackage("jdk.incubator.vector..").check(CLASSES);
    }

    @Test
    void rawMemory_isUsedInTwoPackages() {
        noClasses().that().resideOutsideOfPackages(ROOT + ".offheap", ROOT + ".index.vector").should()
                .dependOnClassesThat().haveNameMatching("java\\.lang\\.foreign\\.(Arena|Linker|SymbolLookup)")
                .check(CLASSES);
    }

    @Test
    void time_isInjected() {
        noClasses().that().doNotHaveSimpleName("SystemTicker").should().callMethod(System.class, "currentTimeMillis")
                .orShould().callMethod(System.class, "nanoTime").check(CLASSES);
    }

    private static void forbid(String name, String other) {
        noClasses().that().resideInAPackage(ROOT + "." + name + "..").should().dependOnClassesThat()
                .resideInAPackage(ROOT + "." + other + "..").allowEmptyShould(true).check(CLASSES);
    }
}
