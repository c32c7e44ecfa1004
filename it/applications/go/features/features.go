// Package features runs the features of one library, one after the other, and prints `ok FEATURE` or
// `FAIL FEATURE: REASON` for each.
package features

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"
)

const limit = 20 * time.Second

type feature struct {
	name string
	run  func()
}

var features []feature

// Address of the server, whose port is the program's argument.
func Address() string {
	return "127.0.0.1:" + os.Args[1]
}

// Add declares a feature, which panics if it fails.
func Add(name string, run func()) {
	features = append(features, feature{name, run})
}

// Check panics with an error.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Of returns the value, or panics with the error.
func Of[T any](value T, err error) T {
	Check(err)
	return value
}

// Equal panics if the values differ.
func Equal(actual, expected any) {
	if !reflect.DeepEqual(actual, expected) {
		panic(fmt.Errorf("expected %v, got %v", expected, actual))
	}
}

// True panics if the condition does not hold.
func True(condition bool, what string) {
	if !condition {
		panic(fmt.Errorf("not so: %s", what))
	}
}

// UntilEqual waits until the function returns the expected value.
func UntilEqual(expected any, value func() any) {
	deadline := time.Now().Add(limit)
	for {
		actual := value()
		if reflect.DeepEqual(actual, expected) {
			return
		}
		if time.Now().After(deadline) {
			panic(fmt.Errorf("expected %v within %v, got %v", expected, limit, actual))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func reasonOf(run func()) (reason string) {
	defer func() {
		if failure := recover(); failure != nil {
			reason = strings.Join(strings.Fields(fmt.Sprint(failure)), " ")
		}
	}()
	run()
	return ""
}

// Run runs the features and returns the exit status: 1 if one failed.
func Run() int {
	status := 0
	for _, feature := range features {
		reasons := make(chan string, 1)
		go func() { reasons <- reasonOf(feature.run) }()
		reason := ""
		select {
		case reason = <-reasons:
		case <-time.After(2 * limit):
			reason = fmt.Sprintf("it took longer than %v", 2*limit)
		}
		if reason == "" {
			fmt.Println("ok", feature.name)
		} else {
			status = 1
			fmt.Printf("FAIL %s: %s\n", feature.name, reason)
		}
	}
	return status
}
