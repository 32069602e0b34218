package main

import "context"

func (s site) fuzz(context.Context, planting, *notices) error { return nil }
